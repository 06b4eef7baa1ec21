import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatLaunchLine,
  type LaunchCommand,
} from "../../packages/core/src/runner/containers/container-process.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const launcher = resolve(import.meta.dirname, "../../packages/core/image/herdctl-launch");

/** Runs the image's launcher in this machine's shell with this standard input. */
function runLauncher(launch: Partial<LaunchCommand>, after = "") {
  const line = formatLaunchLine({ cwd: "/", env: {}, program: "true", args: [], ...launch });
  return runLauncherWithInput(line + after);
}

function runLauncherWithInput(input: string) {
  const env = { PATH: process.env.PATH ?? "", KEPT: "yes" };
  const { status, stdout, stderr } = spawnSync("sh", [launcher], { input, env });
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

const text = fc.string({ unit: "binary" }).filter((one) => !one.includes("\0"));
const words = fc.array(fc.oneof(text, fc.constantFrom("", " ", "\n", "\\", "*", "-n", "$HOME")));

test("passes any arguments to the program", () => {
  fc.assert(
    fc.property(words, (args) => {
      const { stdout } = runLauncher({ program: "printf", args: ["%s\\0", "first", ...args] });
      expect(stdout.split("\0")).toEqual(["first", ...args, ""]);
    }),
  );
});

test("passes any values of variables to the program, beside the container's own", () => {
  fc.assert(
    fc.property(text, (value) => {
      const { stdout } = runLauncher({ env: { "odd.name": value }, program: "env", args: ["-0"] });
      const entries = stdout.split("\0");
      expect(entries).toContain(`odd.name=${value}`);
      expect(entries).toContain("KEPT=yes");
    }),
  );
});

test("leaves standard input after the line to the program, to the byte", () => {
  const rest = ` \\ two  spaces\n\n${"x".repeat(100_000)}\nno end of line`;
  expect(runLauncher({ program: "cat" }, rest)).toEqual({ status: 0, stdout: rest, stderr: "" });
});

test("starts the program in the folder of the line", () => {
  const folder = join(tempFolderWith({}), "with space");
  mkdirSync(folder);
  expect(runLauncher({ cwd: folder, program: "pwd" }).stdout).toBe(`${folder}\n`);
});

test("exits with 0 without a line, when a pre-started container was not needed", () => {
  expect(runLauncherWithInput("")).toEqual({ status: 0, stdout: "", stderr: "" });
});

test("prints why a program cannot be started", () => {
  expect(runLauncher({ cwd: "/not/there" })).toMatchObject({
    status: 125,
    stderr: expect.stringContaining("herdctl-launch: cannot work in /not/there"),
  });
  expect(runLauncher({ program: "no-such-program" })).toMatchObject({ status: 127 });
  expect(runLauncherWithInput("something else\n")).toMatchObject({
    status: 125,
    stderr: "herdctl-launch: a field of the launch line has no colon\n",
  });
});

test("refuses values that no program can receive before sending them", () => {
  const launch = { cwd: "/", env: {}, program: "true", args: ["a\0b"] };
  expect(() => formatLaunchLine(launch)).toThrow("NUL");
  expect(() => formatLaunchLine({ ...launch, program: "A=b" })).toThrow("variable");
});
