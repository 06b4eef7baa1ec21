// Checks docs/reference/requirements.md: every requirement has exactly one row, and every row names
// existing tests, or the issue that will implement it. Another page can be given as an argument.
// Also checks that the tests named in docs/proof/seed-contract.md exist.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Number of requirements in each part. */
const parts = { RUNTIME: 13, RUN: 8, DOCKER: 11, CONFIG: 6, ORCH: 8, DOCS: 9, TEST: 10 };

const root = resolve(import.meta.dirname, "..");
const seedPage = "docs/proof/seed-contract.md";
const page = process.argv[2] ?? join(root, "docs/reference/requirements.md");
const sections = readFileSync(page, "utf8").split(/^## /m).slice(1);
const rows = sections.flatMap((section) => {
  const [kind] = section.split("\n");
  return [...section.matchAll(/^\| ([A-Z]+-\d+) \|.*$/gm)].map(([row, id]) => ({ id, row, kind }));
});

const problems = [
  ...ids().flatMap((id) => {
    const count = rows.filter((row) => row.id === id).length;
    return count === 1 ? [] : [`${id} is in ${count} rows`];
  }),
  ...rows.filter(({ id }) => !ids().includes(id)).map(({ id }) => `${id} is not a requirement`),
  ...rows.flatMap(problemsOf),
  ...seedRows().flatMap(([row, number]) => missingTests(`row ${number} of ${seedPage}`, row)),
];
for (const problem of problems) process.stderr.write(`${page}: ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function ids() {
  return Object.entries(parts).flatMap(([part, count]) =>
    Array.from({ length: count }, (_, index) => `${part}-${String(index + 1).padStart(2, "0")}`),
  );
}

function problemsOf({ id, row, kind }) {
  if (kind !== "Shown" && !/\| \d+ \|$/.test(row)) return [`${id} names no issue`];
  if (kind === "Not built yet") return [];
  if (testsIn(row).length === 0) return [`${id} names no test`];
  return missingTests(id, row);
}

function seedRows() {
  return [...readFileSync(join(root, seedPage), "utf8").matchAll(/^\| (\d+) \|.*$/gm)];
}

function missingTests(title, row) {
  return testsIn(row)
    .filter((one) => !exists(one))
    .map(({ file, name }) => `${title}: ${file} has no test “${name}”`);
}

/** A link names a test file, and the quoted texts after it are tests in that file. */
function testsIn(row) {
  let file = "";
  return [...row.matchAll(/\]\((?:\.\.\/)+([^)]+)\)|“([^”]+)”/g)].flatMap(([, link, name]) => {
    file = link ?? file;
    return name === undefined ? [] : [{ file, name }];
  });
}

function exists({ file, name }) {
  const path = join(root, file);
  return existsSync(path) && readFileSync(path, "utf8").includes(name);
}
