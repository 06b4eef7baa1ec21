import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import GithubSlugger from "github-slugger";
import { describe, expect, test } from "vitest";
import { headingsOf, targetsOf, titled, withTargets } from "../../scripts/site/markdown.mjs";
import { sidebar, slugOf } from "../../site/sidebar.mjs";

const checkout = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(checkout, path), "utf8");

const rootPages = pagesIn(".", false);
const docsPages = pagesIn("docs", true);
const otherPages = ["examples", "plugin", "packages/cli/demo"].flatMap((folder) =>
  existsSync(join(checkout, folder)) ? pagesIn(folder, true) : [],
);

test.each([...rootPages, ...docsPages, ...otherPages])("resolves the links of %s", (page) => {
  const inside = targetsOf(read(page)).filter((target) => !/^[a-z]+:/.test(target));
  expect(inside.filter((target) => !targetExists(page, target))).toEqual([]);
});

describe("documentation site", () => {
  const listed = sidebar.flatMap((group) => group.pages);

  test("lists every page of docs once, and those of the root except README", () => {
    const there = [...docsPages, ...rootPages.filter((page) => page !== "README.md")];
    expect([...listed].sort()).toEqual(there.sort());
    expect(new Set(listed.map(slugOf)).size).toBe(listed.length);
  });

  test.each([...rootPages, ...docsPages])("takes the title from the first line of %s", (page) => {
    expect(titled(read(page)).title).not.toBe("");
    expect(read(page)).not.toMatch(/^---/);
  });
});

describe("link targets", () => {
  const text = [
    "See [`a`](a.md#b), ![it](p.svg) and `[no](code.md)`.",
    "```md",
    "[no](fenced.md)",
    "```",
    "[last](c/)",
  ].join("\n");

  test("finds link targets everywhere except in code", () => {
    expect(targetsOf(text)).toEqual(["a.md#b", "p.svg", "c/"]);
  });

  test("replaces link targets without other changes", () => {
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

function targetExists(page: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const to = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(checkout, to))) return false;
  return anchor === undefined || anchorsOf(to).includes(anchor);
}

/** The anchors that code hosts and the site generate. */
function anchorsOf(page: string): string[] {
  const slugger = new GithubSlugger();
  return headingsOf(read(page)).map((heading) => slugger.slug(heading));
}
