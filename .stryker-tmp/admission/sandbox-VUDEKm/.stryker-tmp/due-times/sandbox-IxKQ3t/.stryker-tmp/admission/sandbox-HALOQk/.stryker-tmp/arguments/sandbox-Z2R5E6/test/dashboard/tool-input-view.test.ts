import { expect, test } from "vitest";
import { splitToolInput } from "../../packages/dashboard/src/pages/inbox/split-tool-input.ts";

test("shows a change as a diff together with all other fields", () => {
  const input = {
    file_path: "/a\u202eb",
    old_string: "one\n",
    new_string: "two\u200b\n",
    replace_all: true,
  };
  const { change, fields } = splitToolInput("Edit", input);
  expect(change).toEqual({
    path: "/a\\u202eb",
    hunks: [{ oldStart: 1, newStart: 1, lines: ["-one", "+two\\u200b"] }],
  });
  expect(fields).toEqual([["replace_all", "true"]]);
});

test("does not treat a server's tool as an edit, whatever its fields are called", () => {
  const input = { old_string: "a", new_string: "b", file_path: "/x", command: "rm -rf /" };
  const { change, fields } = splitToolInput("mcp__any__Edit", input);
  expect(change).toBeNull();
  expect(fields.map(([name]) => name)).toEqual(Object.keys(input));
});

test("shows differences in line ends or tabs as a change", () => {
  const lines = (before: string, after: string) =>
    splitToolInput("Edit", { file_path: "/x", old_string: before, new_string: after }).change
      ?.hunks[0]?.lines;
  expect(lines("a\n", "a\r\n")).toEqual(["-a", "+a\\x0d"]);
  expect(lines("    a", "\ta")).toEqual(["-    a", "+    a"]);
});

test("shows a command with every other field", () => {
  const input = { command: "ls", description: "List", dangerouslyDisableSandbox: true };
  expect(splitToolInput("Bash", input).fields).toEqual([
    ["command", "ls"],
    ["description", "List"],
    ["dangerouslyDisableSandbox", "true"],
  ]);
});

test("shows fields with unexpected types unchanged", () => {
  const input = { file_path: "/x", content: ["no", "text"] };
  const { change, fields } = splitToolInput("Write", input);
  expect(change).toBeNull();
  expect(fields).toHaveLength(2);
});
