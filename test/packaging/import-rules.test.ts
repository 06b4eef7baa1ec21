import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkout, waitForExit } from "../cli/run-herdctl.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const core = "packages/core/src";

test.each([
  {
    what: "an import from fleet/ into runner/execution/",
    from: "fleet/a.ts",
    to: "runner/execution/b.ts",
    rule: "the fleet process enters runner/ by its interface",
  },
  {
    what: "an import from a query into a driver",
    from: "store/sql/a.ts",
    to: "store/postgres/b.ts",
    rule: "core/store/sql imports of its siblings only",
  },
  {
    what: "an import from a folder of both processes into the fleet process",
    from: "store/sql/a.ts",
    to: "jobs/b.ts",
    rule: "core/store imports only",
  },
])("refuses $what", async ({ from, to, rule }) => {
  const imported = await checkImports({ [from]: importOf(`../../${to}`, from), [to]: constant });
  expect(imported).toMatchObject({ code: 1, stdout: expect.stringContaining(rule) });
});

test("refuses a cycle, and accepts an import that is listed", async () => {
  const file = "jobs/a.ts";
  const listed = { [file]: importOf("../../store/b.ts", file), "store/b.ts": constant };
  expect(await checkImports(listed)).toMatchObject({ code: 0 });
  const cycle = { "jobs/a.ts": 'import "./b.ts";\n', "jobs/b.ts": 'import "./a.ts";\n' };
  expect(await checkImports(cycle)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("no cycles"),
  });
});

const constant = "export const b = 1;\n";

/** `path` is relative to a file two folders below `core`. */
function importOf(path: string, importer: string): string {
  const isDeep = importer.split("/").length > 2;
  return `import { b } from "${isDeep ? path : path.replace("../", "")}";\nexport const a = b;\n`;
}

/** Checks the imports of these files of core with the rules of this checkout. */
function checkImports(files: Record<string, string>) {
  const paths = Object.entries(files).map(([path, text]) => [`${core}/${path}`, text]);
  const folder = tempFolderWith({ "tsconfig.json": "{}", ...Object.fromEntries(paths) });
  const rules = join(checkout, ".dependency-cruiser.mjs");
  const program = join(checkout, "node_modules/.bin/depcruise");
  const args = ["--config", rules, "--output-type", "err", "packages"];
  return waitForExit(spawn(program, args, { cwd: folder }));
}
