import { expect, test } from "vitest";
import { decideDelivery } from "../../packages/core/src/triggers/webhook/decide-delivery.ts";
import { findWebhook } from "../../packages/core/src/triggers/webhook/webhook-schedule.ts";
import { inlineAgent, load } from "../support/fleet.ts";

const github = "signature: { kind: github, secret_env: S }";

function schedule(fields: string) {
  const yaml = `schedules: { s: { type: webhook, prompt: p, ${fields} } }`;
  const { fleet } = load(inlineAgent(yaml));
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
  ["on: issues.labeled", "issues.labeled", "wanted"],
  ["on: issues", "issues.labeled", "wanted"],
  ["on: [pull_request.opened, issues.labeled]", "issues.labeled", "wanted"],
  ["on: issues.opened", "issues.labeled", "issues.labeled is not waited for"],
  ["on: issue", "issues.labeled", "issues.labeled is not waited for"],
  ["on: issues.labeled", null, "an event without a name is not waited for"],
  ["on: ping", "ping", "a ping, and it came through"],
])("%s and the event %s: %s", (fields, event, expected) => {
  expect(decide(`${fields}, from: { anyone: true }, ${github}`, event, {})).toBe(expected);
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
])("filter %s: %s", (filter, expected) => {
  const payload = { label: { name: "ready" }, issue: { ...issue, number: 7, locked: false } };
  const fields = `filter: ${filter}, from: { anyone: true }, ${github}`;
  expect(decide(fields, "issues.labeled", payload)).toBe(expected);
});

test.each([
  ["a member's comment", "issue_comment.created", comment(owner, "MEMBER"), "wanted"],
  ["a stranger's comment", "issue_comment.created", comment(stranger, "NONE"), /mallory is NONE/],
  [
    "one who contributed once",
    "issue_comment.created",
    comment(stranger, "CONTRIBUTOR"),
    /CONTRIBUTOR/,
  ],
  [
    "a comment that somebody else changed",
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
    "a label that somebody gave a stranger's issue",
    "issues.labeled",
    { issue, sender: owner },
    "wanted",
  ],
  [
    "a label that came by the stranger's own form",
    "issues.labeled",
    { issue, sender: stranger },
    /NONE/,
  ],
  ["a push", "push", { sender: owner }, "wanted"],
  ["a star", "star.created", { sender: stranger }, /unknown/],
  ["nobody", "issue_comment.created", { issue }, /who caused it/],
])("by default, %s (%s)", (_, event, payload, expected) => {
  const told = decide(github, event, payload);
  if (typeof expected === "string") expect(told).toBe(expected);
  else expect(told).toMatch(expected);
});

test("who may trigger can be widened by login, by association, to anyone, and narrowed", () => {
  const strange = comment(stranger, "NONE");
  const event = "issue_comment.created";
  expect(decide(`from: { logins: [Mallory] }, ${github}`, event, strange)).toBe("wanted");
  expect(decide(`from: { associations: [NONE] }, ${github}`, event, strange)).toBe("wanted");
  expect(decide(`from: { anyone: true }, ${github}`, event, strange)).toBe("wanted");
  const onlyAda = `from: { associations: [], logins: [ada] }, ${github}`;
  expect(decide(onlyAda, event, comment({ login: "bob" }, "OWNER"))).toMatch(/OWNER/);
  expect(decide(onlyAda, "push", { sender: { login: "bob" } })).toMatch(/COLLABORATOR/);
  expect(decide(onlyAda, event, comment(owner, "NONE"))).toBe("wanted");
});

test("a command is the first word of a new comment; what follows it is kept", () => {
  const fields = `command: /herd, ${github}`;
  const said = (body: string, event = "issue_comment.created") => {
    const planned = schedule(fields);
    const payload = comment(owner, "OWNER", body);
    return decideDelivery({ kind: "github", event, payload }, planned);
  };
  expect(said("  /herd fix  the build\nplease")).toEqual({
    kind: "wanted",
    command: "fix the build",
  });
  expect(said("/herd")).toEqual({ kind: "wanted", command: "" });
  for (const body of ["please /herd fix", "/herdsman fix", "> /herd fix", ""])
    expect(said(body)).toMatchObject({ kind: "unwanted" });
  expect(said("/herd fix", "issue_comment.edited")).toMatchObject({ kind: "unwanted" });
});

test("other senders need no rules about people", () => {
  const fields = "on: invoice.paid, signature: { kind: standard, secret_env: S }";
  expect(decide(fields, "invoice.paid", { type: "invoice.paid" })).toBe("wanted");
});
