"""A conversation's role in a team, with the parts that the assembly uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.loop.loop_ports import MailPort
from agent.messages import Message
from agent.model.client import ModelRequest
from agent.model.providers.router import ModelRouter
from agent.tools.base import AnyTool
from agent.tools.registry import ToolRegistry

if TYPE_CHECKING:
    # Every start imports this module, but few are part of a team.
    from agent.teams.executors.choose_executor import Executors
    from agent.teams.executors.executor import SpawnConfig
    from agent.teams.leader import TeamLeader
    from agent.teams.lease import Lease
    from agent.teams.member import TeamMember
    from agent.teams.post import MailWatch

BuildRequests = Callable[[tuple[Message, ...]], ModelRequest]


class MemberStart(Struct, frozen=True):
    """The parameters for assembling a worker's conversation."""

    config: SpawnConfig
    watch: MailWatch
    client: ModelRouter | None = None
    """The leader's client, for a worker in its process; None creates one."""


class LeaderSeat(Struct, frozen=True):
    """The leader's role."""

    leader: TeamLeader
    watch: MailWatch
    executors: Executors
    lease: Lease
    tools: Callable[[ToolRegistry, ToolRegistry], tuple[AnyTool, ...]]
    """Takes the usual tools of a conversation, and the registry of tools for workers, which it
    fills."""
    for_workers: ToolRegistry
    """Tools that workers may use; tools of MCP servers are added while these are connected."""

    @property
    def coordinator(self) -> str | None:
        """The system prompt of a coordinator."""
        from agent.teams.leader import COORDINATOR  # loaded with the leader

        return COORDINATOR

    @property
    def tail(self) -> str:
        """The end of the system prompt."""
        return ""

    @property
    def mail(self) -> MailPort:
        """The mail for the model."""
        return self.leader.mail

    def registry(self, usual: ToolRegistry) -> ToolRegistry:
        """Return the leader's tools, which only coordinate."""
        return ToolRegistry(self.tools(usual, self.for_workers))

    def request(self, build: BuildRequests) -> BuildRequests:
        """Return the builder of requests."""
        return self.leader.request(build)

    async def aclose(self) -> None:
        """Close the parts of this role at the end of the conversation."""
        await self.leader.aclose()
        await self.executors.aclose()
        await self.watch.aclose()
        self.lease.release()


class WorkerSeat(Struct, frozen=True):
    """A worker's role."""

    member: TeamMember
    config: SpawnConfig
    own_tools: tuple[AnyTool, ...]

    @property
    def coordinator(self) -> str | None:
        """None, as a worker is not a coordinator."""
        return None

    @property
    def tail(self) -> str:
        """The end of the system prompt."""
        from agent.teams.member import MEMBER_PROMPT  # loaded with the member

        return MEMBER_PROMPT.format(agent_id=self.config.agent_id, leader_id=self.config.leader_id)

    @property
    def mail(self) -> MailPort:
        """The mail for the model."""
        return self.member.mail

    def registry(self, usual: ToolRegistry) -> ToolRegistry:
        """Return the tools of the subtask and those of every member."""
        tools = usual.without({tool.name for tool in self.own_tools})
        for tool in self.own_tools:
            tools.register(tool)
        return tools

    def may_have(self, name: str) -> bool:
        """Return whether the worker's subtask may use a tool of an MCP server."""
        from agent.subagents.agent_tools import is_among  # loaded with the agents

        return is_among(self.config.options.tools or (), name)

    def request(self, build: BuildRequests) -> BuildRequests:
        """Return the builder of requests."""
        return build

    async def aclose(self) -> None:
        """Close the parts of this role at the end of the conversation."""
        await self.member.aclose()


TeamSeat = LeaderSeat | WorkerSeat
