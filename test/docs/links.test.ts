import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import GithubSlugger from "github-slugger";
import { describe, expect, test } from "vitest";
import { headingsOf, targetsOf, titled, withTargets } from "../../scripts/site/markdown.mjs";
import { sidebar, slugOf } from "../../site/sidebar.mjs";

const checkout = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(checkout, path), "utf8");

const ofRoot = pagesIn(".", false);
const ofDocs = pagesIn("docs", true);
const elsewhere = ["examples", "plugin", "packages/cli/demo"].flatMap((folder) =>
  existsSync(join(checkout, folder)) ? pagesIn(folder, true) : [],
);

test.each([...ofRoot, ...ofDocs, ...elsewhere])("the links of %s lead somewhere", (page) => {
  const inside = targetsOf(read(page)).filter((target) => !/^[a-z]+:/.test(target));
  expect(inside.filter((target) => !leadsSomewhere(page, target))).toEqual([]);
});

describe("the site", () => {
  const listed = sidebar.flatMap((group) => group.pages);

  test("has every page of docs once, and those of the root but README", () => {
    const there = [...ofDocs, ...ofRoot.filter((page) => page !== "README.md")];
    expect([...listed].sort()).toEqual(there.sort());
    expect(new Set(listed.map(slugOf)).size).toBe(listed.length);
  });

  test.each([...ofRoot, ...ofDocs])("can take the title from the first line of %s", (page) => {
    expect(titled(read(page)).title).not.toBe("");
    expect(read(page)).not.toMatch(/^---/);
  });
});

describe("the targets of links", () => {
  const text = [
    "See [`a`](a.md#b), ![it](p.svg) and `[no](code.md)`.",
    "```md",
    "[no](fenced.md)",
    "```",
    "[last](c/)",
  ].join("\n");

  test("are found wherever they stand, but not in code", () => {
    expect(targetsOf(text)).toEqual(["a.md#b", "p.svg", "c/"]);
  });

  test("are replaced, and nothing else is", () => {
    const changed = withTargets(text, (target) => target.toUpperCase());
    expect(changed).toBe(
      text.replace("(a.md#b)", "(A.MD#B)").replace("(p.svg)", "(P.SVG)").replace("(c/)", "(C/)"),
    );
  });
});

function pagesIn(folder: string, recursive: boolean): string[] {
  return readdirSync(join(checkout, folder), { recursive, encoding: "utf8" })
    .map((name) => (folder === "." ? name : `${folder}/${name}`))
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"));
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const to = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(checkout, to))) return false;
  return anchor === undefined || anchorsOf(to).includes(anchor);
}

/** As code hosts and the site make them. */
function anchorsOf(page: string): string[] {
  const slugger = new GithubSlugger();
  return headingsOf(read(page)).map((heading) => slugger.slug(heading));
}
