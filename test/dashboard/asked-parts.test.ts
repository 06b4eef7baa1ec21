import { expect, test } from "vitest";
import { askedParts } from "../../packages/dashboard/src/pages/inbox/asked-parts.ts";

test("a change is shown as a diff, and no other field is left out", () => {
  const input = {
    file_path: "/a\u202eb",
    old_string: "one\n",
    new_string: "two\u200b\n",
    replace_all: true,
  };
  const { change, fields } = askedParts("Edit", input);
  expect(change).toEqual({
    path: "/a\\u202eb",
    hunks: [{ oldStart: 1, newStart: 1, lines: ["-one", "+two\\u200b"] }],
  });
  expect(fields).toEqual([["replace_all", "true"]]);
});

test("a tool of a server is no edit, whatever its fields are called", () => {
  const input = { old_string: "a", new_string: "b", file_path: "/x", command: "rm -rf /" };
  const { change, fields } = askedParts("mcp__any__Edit", input);
  expect(change).toBeNull();
  expect(fields.map(([name]) => name)).toEqual(Object.keys(input));
});

test("what differs only in its line ends or tabs is a change", () => {
  const lines = (before: string, after: string) =>
    askedParts("Edit", { file_path: "/x", old_string: before, new_string: after }).change?.hunks[0]
      ?.lines;
  expect(lines("a\n", "a\r\n")).toEqual(["-a", "+a\\x0d"]);
  expect(lines("    a", "\ta")).toEqual(["-    a", "+    a"]);
});

test("a command is shown with every field beside it", () => {
  const input = { command: "ls", description: "List", dangerouslyDisableSandbox: true };
  expect(askedParts("Bash", input).fields).toEqual([
    ["command", "ls"],
    ["description", "List"],
    ["dangerouslyDisableSandbox", "true"],
  ]);
});

test("fields of other kinds than a change expects are shown as they are", () => {
  const input = { file_path: "/x", content: ["no", "text"] };
  const { change, fields } = askedParts("Write", input);
  expect(change).toBeNull();
  expect(fields).toHaveLength(2);
});
