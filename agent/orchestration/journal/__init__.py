"""What finished steps of workflows answered, stored so that no finished work is done twice."""
