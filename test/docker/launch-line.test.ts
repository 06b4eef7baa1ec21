import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Launch, launchLine } from "../../packages/core/src/runner/container/launch-line.ts";
import { folderWith } from "../support/folder.ts";

const launcher = resolve(import.meta.dirname, "../../packages/core/image/herdctl-launch");

/** The launcher of the image, under this machine's shell, with these bytes on standard input. */
function launched(launch: Partial<Launch>, after = "") {
  const line = launchLine({ cwd: "/", env: {}, program: "true", args: [], ...launch });
  return given(line + after);
}

function given(input: string) {
  const env = { PATH: process.env.PATH ?? "", KEPT: "yes" };
  const { status, stdout, stderr } = spawnSync("sh", [launcher], { input, env });
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

const text = fc.string({ unit: "binary" }).filter((one) => !one.includes("\0"));
const words = fc.array(fc.oneof(text, fc.constantFrom("", " ", "\n", "\\", "*", "-n", "$HOME")));

test("whatever the arguments are, the program gets them", () => {
  fc.assert(
    fc.property(words, (args) => {
      const { stdout } = launched({ program: "printf", args: ["%s\\0", "first", ...args] });
      expect(stdout.split("\0")).toEqual(["first", ...args, ""]);
    }),
  );
});

test("whatever the values of variables are, the program has them, beside the container's own", () => {
  fc.assert(
    fc.property(text, (value) => {
      const { stdout } = launched({ env: { "odd.name": value }, program: "env", args: ["-0"] });
      const entries = stdout.split("\0");
      expect(entries).toContain(`odd.name=${value}`);
      expect(entries).toContain("KEPT=yes");
    }),
  );
});

test("standard input after the line belongs to the program, to the byte", () => {
  const rest = ` \\ two  spaces\n\n${"x".repeat(100_000)}\nno end of line`;
  expect(launched({ program: "cat" }, rest)).toEqual({ status: 0, stdout: rest, stderr: "" });
});

test("the program works in the folder that the line names", () => {
  const folder = join(folderWith({}), "with space");
  mkdirSync(folder);
  expect(launched({ cwd: folder, program: "pwd" }).stdout).toBe(`${folder}\n`);
});

test("no line at all is no failure: a spare container was not needed", () => {
  expect(given("")).toEqual({ status: 0, stdout: "", stderr: "" });
});

test("what cannot be started says why", () => {
  expect(launched({ cwd: "/not/there" })).toMatchObject({
    status: 125,
    stderr: expect.stringContaining("herdctl-launch: cannot work in /not/there"),
  });
  expect(launched({ program: "no-such-program" })).toMatchObject({ status: 127 });
  expect(given("something else\n")).toMatchObject({
    status: 125,
    stderr: "herdctl-launch: a field of the launch line has no colon\n",
  });
});

test("what no program can be given is refused before it is sent", () => {
  const launch = { cwd: "/", env: {}, program: "true", args: ["a\0b"] };
  expect(() => launchLine(launch)).toThrow("NUL");
  expect(() => launchLine({ ...launch, program: "A=b" })).toThrow("variable");
});
