import { expect, test } from "vitest";
import { editDocument } from "../../packages/config/src/edit/edit-document.ts";

const fleetFile = `# The fleet of the shop.
version: 1
agents:
  # Reads pull requests.
  - name: reviewer
    description: Reads changes # in a sentence
    permission_mode: "default"

    schedules:
      nightly: { type: cron, cron: "0 2 * * *" } # when it is quiet
  - path: agents/*.yaml
`;

const edit = (text: string, changes: { path: string[]; value?: unknown }[], agent = "reviewer") =>
  editDocument(text, { agent, isNew: false, changes });

/** The lines that differ. */
function changedLines(before: string, after: string) {
  const [old, changed] = [before.split("\n"), after.split("\n")];
  return {
    removed: old.filter((line) => !changed.includes(line)),
    added: changed.filter((line) => !old.includes(line)),
  };
}

test("changes only the line of a value, and keeps comments, quotes and blank lines", () => {
  const after = edit(fleetFile, [
    { path: ["description"], value: "Reads all changes" },
    { path: ["permission_mode"], value: "plan" },
    { path: ["schedules", "nightly", "cron"], value: "0 3 * * *" },
  ]);
  expect(changedLines(fleetFile, after)).toEqual({
    removed: [
      "    description: Reads changes # in a sentence",
      '    permission_mode: "default"',
      '      nightly: { type: cron, cron: "0 2 * * *" } # when it is quiet',
    ],
    added: [
      "    description: Reads all changes # in a sentence",
      '    permission_mode: "plan"',
      '      nightly: { type: cron, cron: "0 3 * * *" } # when it is quiet',
    ],
  });
});

test("adds keys and schedules, and removes them with the blocks that become empty", () => {
  const added = edit(fleetFile, [
    { path: ["allowed_tools"], value: ["Read", "Bash(npm test:*)"] },
    { path: ["schedules", "hourly", "type"], value: "interval" },
    { path: ["schedules", "hourly", "every"], value: "1h" },
    { path: ["budget", "daily_usd"], value: 2 },
    { path: ["default_prompt"], value: "One.\nTwo." },
  ]);
  expect(changedLines(fleetFile, added).removed).toEqual([]);
  expect(added).toContain("      hourly:\n        type: interval\n        every: 1h\n");
  expect(added).toContain("    default_prompt: |-\n      One.\n      Two.\n");
  const removed = edit(added, [
    { path: ["budget", "daily_usd"] },
    { path: ["schedules", "hourly"] },
    { path: ["missing", "key"] },
  ]);
  expect(removed).not.toContain("budget");
  expect(removed).toContain("nightly");
});

test("edits an agent file, which is the agent itself, and replaces a short form by a block", () => {
  const file = "# An agent file.\nname: coder\nruntime: cli\n";
  const edited = edit(file, [{ path: ["runtime", "stream"], value: "stdout" }], "coder");
  expect(edited).toContain("# An agent file.\nname: coder\n");
  expect(edited).toContain("runtime:\n  stream: stdout\n");
});

test("adds an agent to a fleet file, also to one without agents", () => {
  const add = (text: string) =>
    editDocument(text, {
      agent: "writer",
      isNew: true,
      changes: [{ path: ["description"], value: "Writes" }],
    });
  expect(add(fleetFile)).toBe(`${fleetFile}  - name: writer\n    description: Writes\n`);
  expect(add("version: 1\nagents: []\n")).toBe(
    "version: 1\nagents:\n  - name: writer\n    description: Writes\n",
  );
  expect(add("version: 1\n")).toContain("agents:\n  - name: writer\n");
  expect(() => editDocument(fleetFile, { agent: "reviewer", isNew: true, changes: [] })).toThrow(
    "there is already an agent `reviewer`",
  );
});

test("keeps the style of lists that are not indented", () => {
  const file = "agents:\n- name: reviewer\n  allowed_tools:\n  - Read\n";
  expect(edit(file, [{ path: ["max_turns"], value: 5 }])).toBe(`${file}  max_turns: 5\n`);
});
