import type { Defence } from "../defence.ts";

const apiTest = "test/security/http-api.test.ts";
const writeEditTest = "test/config-edit/write-edit.test.ts";
const auditDurableTest = "test/fleet/audit-durability.test.ts";

export const httpApiDefences: readonly Defence[] = [
  {
    name: "only an admin can have a prompt expanded",
    protects: "files of the machine, against a token that may only trigger",
    mark: "expand-needs-admin",
    without: '$left === "read"',
    failingTest: {
      file: "test/server/api-tokens.test.ts",
      test: "lets only an admin expand a prompt, which can read local files",
    },
  },
  {
    name: "only an admin can allow a request always",
    protects: "later runs of the agent, against a token that may only answer",
    mark: "always-needs-admin",
    without: '$left === "read"',
    failingTest: {
      file: "test/server/api-tokens.test.ts",
      test: "lets only an admin allow a request always, which writes a rule",
    },
  },
  {
    name: "the dashboard cannot write fields that run programs on the host",
    protects: "the machine, against a stolen login",
    mark: "dashboard-edit-classes",
    without: "false",
    failingTest: {
      file: "test/config-edit/preview-edit.test.ts",
      test: "refuses fields that run programs on the host or use secrets of the fleet",
    },
  },
  {
    name: "the dashboard cannot write variables",
    protects: "secrets of the fleet, against a stolen login",
    mark: "dashboard-edit-variables",
    without: "[]",
    failingTest: {
      file: "test/config-edit/preview-edit.test.ts",
      test: "does not substitute variables, which could put a secret into a prompt",
    },
  },
  {
    name: "an edit is written only to the file that was reviewed",
    protects: "changes that someone else made meanwhile",
    mark: "edit-of-current-file",
    without: "false",
    failingTest: {
      file: writeEditTest,
      test: "refuses an edit of a file that has changed since the preview",
    },
  },
  {
    name: "an edit with problems is not written",
    protects: "the machine, against a stolen login",
    mark: "edit-without-problems",
    without: "",
    failingTest: { file: writeEditTest, test: "writes nothing if there are problems" },
  },
  {
    name: "an edit sets only fields of an agent",
    protects: "the fleet file's grants, against `path`, `trust` and `overrides` in an edit",
    mark: "dashboard-edit-keys",
    without: "[]",
    failingTest: {
      file: "test/config-edit/preview-edit.test.ts",
      test: "refuses keys of an entry that say what a file may do",
    },
  },
  {
    name: "the name of a new agent contains no variable",
    protects: "secrets of the fleet, against a stolen login",
    mark: "dashboard-edit-name",
    node: "ConditionalExpression",
    without: "[]",
    failingTest: {
      file: "test/config-edit/preview-edit.test.ts",
      test: "does not substitute variables in the name of a new agent",
    },
  },
  {
    name: "a route that is not listed needs the scope admin",
    protects: "the fleet file and tokens, against a token that may only read",
    mark: "unlisted-routes",
    without: '"read"',
    failingTest: { file: writeEditTest, test: "lets only an admin edit" },
  },
  {
    name: "only the fleet's own host names are answered",
    protects: "the fleet, against DNS rebinding",
    mark: "own-host-names",
    without: 'if (!$1("localhost", $4)) return $expression.operand.arguments[0];',
    failingTest: {
      file: apiTest,
      test: "answers no request by a host name that was rebound to the fleet",
    },
  },
  {
    name: "the origin must be the fleet's own",
    protects: "the fleet, against another page",
    mark: "same-origin",
    without: '$left === ""',
    failingTest: {
      file: apiTest,
      test: "refuses posts and streams of other pages although the browser would send the cookie",
    },
  },
  {
    name: "fetch metadata of the browser is checked",
    protects: "the fleet, against another page that sends no origin",
    mark: "fetch-site",
    without: '$1 !== ""',
    failingTest: {
      file: apiTest,
      test: "refuses posts and streams of other pages although the browser would send the cookie",
    },
  },
  {
    name: "a token must match completely",
    protects: "the fleet, against everyone who reaches the port",
    mark: "whole-token",
    without: "return $3 !== '' && $1($2(''), $2('')) && $4.startsWith($3);",
    failingTest: {
      file: apiTest,
      test: "refuses missing, wrong, blank, truncated and misplaced tokens",
    },
  },
  {
    name: "wrong tokens are counted",
    protects: "the token, against guessing",
    mark: "token-failure-limit",
    without: "return $expression * 1e6;",
    failingTest: {
      file: apiTest,
      test: "slows down wrong tokens but not a right token, link or cookie",
    },
  },
  {
    name: "a cookie must have a valid signature",
    protects: "the fleet, against a forged cookie",
    mark: "signed-cookie",
    without: "return $1($2, '') ? undefined : $4;",
    failingTest: {
      file: apiTest,
      test: "refuses missing, wrong, blank, truncated and misplaced tokens",
    },
  },
  {
    name: "a login link works once",
    protects: "the fleet, against a link in a history",
    mark: "login-code-single-use",
    without: "",
    failingTest: {
      file: "test/server/http-server.test.ts",
      test: "signs one browser in with a link, once",
    },
  },
  {
    name: "files are served by a list, not by a path",
    protects: "files outside the dashboard, against a link",
    mark: "listed-static-files",
    node: "CallExpression",
    without: "!$1.isDirectory()",
    failingTest: {
      file: apiTest,
      test: "serves no path outside the dashboard's folder, and none without the token",
    },
  },
  {
    name: "an oversized body is refused by its announced size",
    protects: "the fleet's memory",
    mark: "declared-body-size",
    without: "",
    failingTest: {
      file: "test/webhooks/invalid-requests.test.ts",
      test: "refuses a body of 30 MB by its announced size and closes the connection",
    },
  },
  {
    name: "an oversized body is refused while it is read",
    protects: "the fleet's memory, against a body without a size",
    mark: "actual-body-size",
    without: "",
    failingTest: {
      file: "test/webhooks/invalid-requests.test.ts",
      test: "refuses an oversized body without an announced size",
    },
  },
  {
    name: "fleet tools are closed unless configured",
    protects: "the fleet, against a program that may only look",
    mark: "closed-mcp-tools",
    without: "$1.length >= 0",
    failingTest: {
      file: "test/mcp/stdio.test.ts",
      test: "shows the fleet to a read-only client and offers no tool that changes anything",
    },
  },
  {
    name: "a right token is accepted despite wrong ones",
    protects: "the owner's access, against an attacker who sends wrong tokens",
    mark: "valid-token-first",
    without:
      'async $name($parameters): $type { const failure = $body.statements[3].thenStatement.expression; if (failure.message.startsWith("too many")) throw failure; $body.statements }',
    failingTest: {
      file: apiTest,
      test: "slows down wrong tokens but not a right token, link or cookie",
    },
  },
  {
    name: "a sign-out is stored in the database",
    protects: "a signed-out browser, against a copy of its cookie",
    mark: "stored-sign-out",
    without: "",
    failingTest: {
      file: "test/server/http-server.test.ts",
      test: "keeps a signed-out cookie invalid after a fleet restart",
    },
  },
  {
    name: "each route requires its scope",
    protects: "the fleet, against a token with another scope",
    mark: "route-scope",
    without: "if ($2 !== undefined) return;",
    failingTest: {
      file: "test/server/api-tokens.test.ts",
      test: "allows exactly its routes to a token with the scope read",
    },
  },
  {
    name: "a token of one agent sees that agent alone",
    protects: "jobs of other agents, against a token that is not for them",
    mark: "agent-token-view",
    without: "return $1 && !$3 ? $expression.whenTrue : $3;",
    failingTest: {
      file: "test/server/api-tokens.test.ts",
      test: "limits a token of one agent to that agent",
    },
  },
  {
    name: "events are limited to the agents of the token",
    protects: "activity of other agents, against a token that is not for them",
    mark: "agent-token-events",
    without: "$1 !== undefined || $left.right || $right",
    failingTest: {
      file: "test/server/api-tokens.test.ts",
      test: "sends a token of one agent no events of other agents",
    },
  },
  {
    name: "streams end with their token",
    protects: "the fleet, against a stream that outlives its token",
    mark: "stream-ends-with-access",
    without: "",
    failingTest: {
      file: "test/server/api-tokens.test.ts",
      test: "ends a token with its streams on expiry and revocation",
    },
  },
  {
    name: "actions are recorded with the authenticated identity",
    protects: "the record, against a caller who names another person",
    mark: "authenticated-actor",
    without:
      "Object.fromEntries(Object.keys($properties[0].expression).map((key) => [key, $properties[1]]))",
    failingTest: {
      file: "test/fleet/audit-log.test.ts",
      test: "records who did what from where, whatever name the caller sends",
    },
  },
  {
    name: "a record contains the hash of the previous one",
    protects: "the audit log, against a record that was rewritten with its hash",
    mark: "audit-previous-hash",
    without: "$left === 'none'",
    failingTest: {
      file: "test/store/audit-log.test.ts",
      test: "finds an edited record whose hash was recomputed",
    },
  },
  {
    name: "the head of the audit log is stored separately",
    protects: "the audit log, against truncation",
    mark: "audit-head",
    without: "$name",
    failingTest: {
      file: "test/store/audit-log.test.ts",
      test: "finds a truncated end, also after more was appended",
    },
  },
  {
    name: "failures are counted instead of recorded one by one",
    protects: "the disk, against an attacker who sends wrong tokens",
    mark: "audit-failure-count",
    without: "$left || $right || !$right",
    failingTest: {
      file: "test/fleet/audit-log.test.ts",
      test: "summarizes many failures from many addresses in a few records with counts",
    },
  },
  {
    name: "nothing is acknowledged before it is in the audit log",
    protects: "the audit log, against a full disk and a fleet that is killed",
    mark: "audit-before-reply",
    without: "void $expression.expression;",
    failingTest: {
      file: auditDurableTest,
      test: "acknowledges no change that cannot be recorded, and creates no token",
    },
  },
  {
    name: "a wrong signature is recorded in the audit log",
    protects: "the audit log, against an attacker who guesses the secret of a webhook",
    mark: "audit-bad-signature",
    without: "",
    failingTest: {
      file: auditDurableTest,
      test: "records a delivery with a wrong signature before answering its sender",
    },
  },
];
