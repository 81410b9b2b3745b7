// A program of a user: it offers one tool to the agent that it starts. Arguments: the agent, a directory.
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";

const add = tool("add", "Adds numbers.", { a: z.number(), b: z.number() }, async ({ a, b }) => ({
  content: [{ type: "text", text: `the sum is ${a + b}` }],
}));
const calc = createSdkMcpServer({ name: "calc", version: "1.0.0", tools: [add] });
const [agent, directory] = process.argv.slice(2);

async function* prompts() {
  const message = { role: "user", content: "add" };
  yield { type: "user", message, parent_tool_use_id: null, session_id: "" };
}

const options = {
  pathToClaudeCodeExecutable: agent,
  cwd: directory,
  mcpServers: { calc },
  allowedTools: ["mcp__calc__add"],
};
for await (const message of query({ prompt: prompts(), options })) {
  console.log(JSON.stringify(message));
}
