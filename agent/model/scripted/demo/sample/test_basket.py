import unittest

from basket import Basket


class BasketTest(unittest.TestCase):
    def test_an_empty_basket_costs_nothing(self):
        self.assertEqual(Basket().total(), 0)

    def test_every_piece_counts(self):
        basket = Basket()
        basket.add("tea", 350, pieces=2)
        basket.add("milk", 129)
        self.assertEqual(basket.total(), 829)

    def test_no_pieces_is_an_error(self):
        with self.assertRaises(ValueError):
            Basket().add("tea", 350, pieces=0)


if __name__ == "__main__":
    unittest.main()
