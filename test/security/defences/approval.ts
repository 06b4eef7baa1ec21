import type { Defence } from "../defence.ts";

const postTest = "test/chat/approval-message.test.ts";
const mcpTest = "test/mcp/approvals.test.ts";

const ruleTest = "test/jobs/permission-rules.test.ts";

const pushTest = "test/server/push-subscriptions.test.ts";

export const approvalDefences: readonly Defence[] = [
  {
    name: "a browser gets no questions after its login or token has ended",
    protects: "questions of agents, against a lost device or a former colleague",
    mark: "push-owner",
    without: "",
    failingTest: { file: "test/hooks/web-push.test.ts", test: "login:0123abcd" },
  },
  {
    name: "questions are pushed over TLS only",
    protects: "the address of the browser, and the fleet's network against made-up addresses",
    mark: "push-https",
    without: "",
    failingTest: { file: pushTest, test: "refuses subscriptions without TLS" },
  },
  {
    name: "a caller ends only its own push subscriptions",
    protects: "other people, who would not be notified any more",
    mark: "push-own-subscription",
    without: "",
    failingTest: { file: pushTest, test: "ends it only for that caller" },
  },
  {
    name: "a rule of a person never allows what the configuration denies",
    protects: "the operator's `denied_tools`, against an answer that came later",
    mark: "denied-before-rules",
    without: "return true;",
    failingTest: { file: ruleTest, test: "does not hold for a tool that is denied" },
  },
  {
    name: "an approver in a chat cannot write rules unless named for it",
    protects: "later runs of the agent, against a press of an old or forged button",
    mark: "chat-rule-approvers",
    without: "true",
    failingTest: { file: ruleTest, test: "writes a rule from a chat only for a rule approver" },
  },
  {
    name: "a `claude` with rules for one job does not take the next one",
    protects: "the approver, who allowed it for one job only",
    mark: "no-rules-between-jobs",
    without: "false",
    failingTest: {
      file: "test/fleet/permission-rules.test.ts",
      test: "asks again or not with the cli runtime, as the person decided",
    },
  },
  {
    name: "a suggested rule is for the tool of the request, and not for the whole of it",
    protects: "the approver, against a program that impersonates Claude Code",
    mark: "suggested-rule-scope",
    without: "return rules;",
    failingTest: { file: ruleTest, test: "the whole of Bash" },
  },
  {
    name: "a request in a chat shows every field of the input",
    protects: "the approver, against an input with a hidden harmful field",
    mark: "every-input-field",
    node: "PropertyAccessExpression",
    without: "$expression.slice(0, 1).$name",
    failingTest: {
      file: postTest,
      test: "shows every field of an MCP tool when the harmful one is last",
    },
  },
  {
    name: "invisible and direction characters of a request are escaped",
    protects: "the approver, in chat, dashboard and terminal",
    mark: "visible-characters",
    without: "$arguments[0]",
    failingTest: { file: postTest, test: "escapes characters that change the reading direction" },
  },
  {
    name: "a value cannot imitate another field of a request",
    protects: "the approver, against a forged layout",
    mark: "indented-values",
    without: "$1",
    failingTest: {
      file: postTest,
      test: "prevents a value from imitating another field or ending the code block",
    },
  },
  {
    name: "a request cannot end the code block in which a chat shows it",
    protects: "the approver, against markdown and mentions in the input",
    mark: "no-fence-in-post",
    without: "return `\\`\\`\\`\\n${$2}\\n\\`\\`\\``;",
    failingTest: {
      file: postTest,
      test: "prevents a value from imitating another field or ending the code block",
    },
  },
  {
    name: "a request that cannot be shown in full can only be denied",
    protects: "the approver, against a request that is longer than a post",
    mark: "deny-only-when-cut",
    without: "",
    failingTest: {
      file: postTest,
      test: "attaches a long request as a file and can be allowed only then",
    },
  },
  {
    name: "a failed upload removes the button to allow",
    protects: "the approver, against a request of which only the beginning is shown",
    mark: "upload-before-allow",
    without: "$2.catch(() => {});",
    failingTest: {
      file: "test/chat/discord.test.ts",
      test: "only lets a long request be denied when it cannot be shown in full",
    },
  },
  {
    name: "an MCP client cannot allow a request that it was not shown in full",
    protects: "the person behind an MCP client, against a command behind the cut",
    mark: "mcp-shown-whole",
    without: "",
    failingTest: {
      file: mcpTest,
      test: "only lets a request be denied that is not shown in full:",
    },
  },
  {
    name: "invisible characters of a request are shown to MCP clients",
    protects: "the person behind an MCP client",
    mark: "mcp-visible-characters",
    without: "$arguments[0]",
    failingTest: {
      file: mcpTest,
      test: "shows invisible characters as escapes and lets a fully shown request be allowed",
    },
  },
];
