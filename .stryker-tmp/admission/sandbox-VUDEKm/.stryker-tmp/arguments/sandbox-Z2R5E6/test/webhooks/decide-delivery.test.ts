import { expect, test } from "vitest";
import { decideDelivery } from "../../packages/core/src/triggers/webhooks/decide-delivery.ts";
import { findWebhook } from "../../packages/core/src/triggers/webhooks/webhook-schedule.ts";
import { inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

const github = "signature: { kind: github, secret_env: S }";

function schedule(fields: string) {
  const yaml = `schedules: { s: { type: webhook, prompt: p, ${fields} } }`;
  const { fleet } = loadTestFleet(inlineAgent(yaml));
  return findWebhook(fleet.agents, { agent: "one", schedule: "s" });
}

function decide(fields: string, event: string | null, payload: unknown) {
  const planned = schedule(fields);
  const decision = decideDelivery({ kind: planned.signature.kind, event, payload }, planned);
  return decision.kind === "wanted" ? "wanted" : decision.reason;
}

const owner = { login: "ada" };
const stranger = { login: "mallory" };
const issue = {
  user: stranger,
  author_association: "NONE",
  labels: [{ name: "bug" }, { name: "ready" }],
};
const comment = (user: object, association: string, body = "hello") => ({
  issue,
  comment: { user, author_association: association, body },
  sender: user,
});

test.each([
  ["events: issues.labeled", "issues.labeled", "wanted"],
  ["events: issues", "issues.labeled", "wanted"],
  ["events: [pull_request.opened, issues.labeled]", "issues.labeled", "wanted"],
  ["events: issues.opened", "issues.labeled", "issues.labeled is not in `events`"],
  ["events: issue", "issues.labeled", "issues.labeled is not in `events`"],
  ["events: issues.labeled", null, "an event without a name is not in `events`"],
  ["events: ping", "ping", "a ping, which was received"],
])("matches %s with the event %s: %s", (fields, event, expected) => {
  expect(decide(`${fields}, allowed_senders: { anyone: true }, ${github}`, event, {})).toBe(
    expected,
  );
});

test.each([
  ["{ label.name: ready }", "wanted"],
  ["{ label.name: [done, ready] }", "wanted"],
  ["{ issue.labels.name: bug }", "wanted"],
  ["{ issue.labels.0.name: bug }", "wanted"],
  ["{ issue.number: 7 }", "wanted"],
  ["{ issue.locked: false }", "wanted"],
  ["{ label.name: [done, gone] }", "label.name is not done or gone"],
  ["{ label.name: ready, issue.number: 8 }", "issue.number is not 8"],
  ["{ nowhere.at: x }", "nowhere.at is not x"],
  ["{ __proto__.toString: x }", "__proto__.toString is not x"],
])("matches the filter %s: %s", (filter, expected) => {
  const payload = { label: { name: "ready" }, issue: { ...issue, number: 7, locked: false } };
  const fields = `filter: ${filter}, allowed_senders: { anyone: true }, ${github}`;
  expect(decide(fields, "issues.labeled", payload)).toBe(expected);
});

test.each([
  ["a member's comment", "issue_comment.created", comment(owner, "MEMBER"), "wanted"],
  [
    "a stranger's comment",
    "issue_comment.created",
    comment(stranger, "NONE"),
    /mallory has the association NONE/,
  ],
  [
    "a comment of a one-time contributor",
    "issue_comment.created",
    comment(stranger, "CONTRIBUTOR"),
    /CONTRIBUTOR/,
  ],
  [
    "a comment edited by another user",
    "issue_comment.edited",
    { ...comment(owner, "MEMBER"), sender: stranger },
    /unknown/,
  ],
  [
    "a stranger's pull request",
    "pull_request.opened",
    { pull_request: issue, sender: stranger },
    /NONE/,
  ],
  [
    "a push to it by another stranger",
    "pull_request.synchronize",
    { pull_request: { user: owner, author_association: "OWNER" }, sender: stranger },
    /unknown/,
  ],
  [
    "a label that a maintainer added to a stranger's issue",
    "issues.labeled",
    { issue, sender: owner },
    "wanted",
  ],
  ["a label set by the stranger's own form", "issues.labeled", { issue, sender: stranger }, /NONE/],
  ["a push", "push", { sender: owner }, "wanted"],
  ["a star", "star.created", { sender: stranger }, /unknown/],
  ["a missing sender", "issue_comment.created", { issue }, /names no sender/],
])("decides by default on %s (%s)", (_, event, payload, expected) => {
  const decision = decide(github, event, payload);
  if (typeof expected === "string") expect(decision).toBe(expected);
  else expect(decision).toMatch(expected);
});

test("widens allowed senders by login, by association and to anyone, and narrows them", () => {
  const strange = comment(stranger, "NONE");
  const event = "issue_comment.created";
  expect(decide(`allowed_senders: { logins: [Mallory] }, ${github}`, event, strange)).toBe(
    "wanted",
  );
  expect(decide(`allowed_senders: { associations: [NONE] }, ${github}`, event, strange)).toBe(
    "wanted",
  );
  expect(decide(`allowed_senders: { anyone: true }, ${github}`, event, strange)).toBe("wanted");
  const onlyAda = `allowed_senders: { associations: [], logins: [ada] }, ${github}`;
  expect(decide(onlyAda, event, comment({ login: "bob" }, "OWNER"))).toMatch(/OWNER/);
  expect(decide(onlyAda, "push", { sender: { login: "bob" } })).toMatch(/COLLABORATOR/);
  expect(decide(onlyAda, event, comment(owner, "NONE"))).toBe("wanted");
});

test("reads a command from the first word of a new comment and keeps the rest", () => {
  const fields = `comment_command: /herd, ${github}`;
  const decideComment = (body: string, event = "issue_comment.created") => {
    const planned = schedule(fields);
    const payload = comment(owner, "OWNER", body);
    return decideDelivery({ kind: "github", event, payload }, planned);
  };
  expect(decideComment("  /herd fix  the build\nplease")).toEqual({
    kind: "wanted",
    command: "fix the build",
  });
  expect(decideComment("/herd")).toEqual({ kind: "wanted", command: "" });
  for (const body of ["please /herd fix", "/herdsman fix", "> /herd fix", ""])
    expect(decideComment(body)).toMatchObject({ kind: "unwanted" });
  expect(decideComment("/herd fix", "issue_comment.edited")).toMatchObject({ kind: "unwanted" });
});

test("applies no sender rules to other kinds of webhooks", () => {
  const fields = "events: invoice.paid, signature: { kind: standard, secret_env: S }";
  expect(decide(fields, "invoice.paid", { type: "invoice.paid" })).toBe("wanted");
});
