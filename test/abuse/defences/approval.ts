import type { Defence } from "../defence.ts";

const text = "packages/core/src/state/approval-text.ts";
const post = "packages/core/src/chat/approval-post.ts";
const postTest = "test/chat/approval-post.test.ts";
const mcpTools = "packages/server/src/mcp/tools/approvals.ts";
const mcpTest = "test/mcp/approvals.test.ts";

export const approvalDefences: readonly Defence[] = [
  {
    name: "a request in a chat shows every field of the input",
    guards: "the approver, against an input whose telling field is not shown",
    edit: {
      file: text,
      from: "return Object.entries(input).map(([name, value])",
      to: "return Object.entries(input).slice(0, 1).map(([name, value])",
    },
    red: { file: postTest, test: "every field of an MCP tool, the telling one last" },
  },
  {
    name: "invisible and direction characters of a request are shown",
    guards: "the approver, in chat, dashboard and terminal",
    edit: {
      file: text,
      from: "emoji ?? escaped(found)",
      to: "emoji ?? found",
    },
    red: { file: postTest, test: "what turns the reading direction" },
  },
  {
    name: "a value cannot pass for another field of a request",
    guards: "the approver, against a forged layout",
    edit: { file: text, from: '.replace(/^/gm, "  ")', to: "" },
    red: { file: postTest, test: "no value can pass for another field" },
  },
  {
    name: "a request cannot end the block of code in which a chat shows it",
    guards: "the approver, against markdown and mentions in the input",
    edit: { file: post, from: "${withoutFences(text)}\\n", to: "${text}\\n" },
    red: { file: postTest, test: "none can end the block" },
  },
  {
    name: "what cannot be shown whole can only be denied",
    guards: "the approver, against a request that is longer than a post",
    edit: { file: post, from: "buttons: denyOnly(approval)", to: "buttons: buttonsOf(approval)" },
    red: { file: postTest, test: "a long one is in a file, and only then can be allowed" },
  },
  {
    name: "a failed upload takes away the button to allow",
    guards: "the approver, against a request of which only the beginning is seen",
    edit: {
      file: "packages/core/src/chat/questions.ts",
      from: "      await within(maxUploadMs, posted);\n",
      to: "      posted.catch(ignore);\n",
    },
    red: {
      file: "test/chat/discord.test.ts",
      test: "where a long request cannot be shown, it can only be denied",
    },
  },
  {
    name: "an MCP client cannot allow a request that it was not shown whole",
    guards: "the person behind an MCP client, against a command behind the cut",
    edit: {
      file: mcpTools,
      from: 'if (asked && word !== "deny") requireShownWhole(asked);',
      to: "",
    },
    red: { file: mcpTest, test: "a request that is not shown whole can only be denied" },
  },
  {
    name: "invisible characters of a request are shown to MCP clients",
    guards: "the person behind an MCP client",
    edit: {
      file: mcpTools,
      from: 'visible(JSON.stringify(asked, null, 2) ?? "")',
      to: 'JSON.stringify(asked, null, 2) ?? ""',
    },
    red: { file: mcpTest, test: "invisible characters are shown as escapes" },
  },
];
