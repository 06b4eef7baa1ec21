import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { sidebar, slugOf } from "../../site/sidebar.mjs";
import { titled, withTargets } from "./markdown.mjs";

const landing = "index.mdx";

/** Copies the Markdown pages of the repository to the site. Returns the pages and source files. */
export function fillSite(root) {
  const content = join(root, "site/src/content/docs");
  const publicDir = join(root, "site/public");
  for (const name of readdirSync(content)) {
    if (name !== landing) rmSync(join(content, name), { recursive: true });
  }
  rmSync(publicDir, { recursive: true, force: true });
  cpSync(join(root, "docs/pictures"), join(content, "pictures"), { recursive: true });
  mkdirSync(publicDir, { recursive: true });
  cpSync(join(root, "packages/dashboard/public/icon.svg"), join(publicDir, "favicon.svg"));

  const pages = sidebar
    .flatMap((group) => group.pages)
    .filter((page) => existsSync(join(root, page)));
  const files = new Set();
  for (const page of pages) {
    const { title, body } = titled(readFileSync(join(root, page), "utf8"));
    const text = withTargets(body, (target) => {
      const link = resolveTarget(page, target, pages);
      if (link.file && !existsSync(join(root, link.file))) {
        throw new Error(`${page} links to ${link.file}, which does not exist`);
      }
      if (link.file) files.add(link.file);
      return link.href;
    });
    write(
      join(content, `${fileOf(page)}.md`),
      `---\ntitle: ${JSON.stringify(title)}\n---\n\n${text}`,
    );
  }
  for (const file of files) write(join(publicDir, sourceOf(file)), sourceText(root, file));
  return { pages, files: [...files] };
}

/** Converts a link target to its address on the site. Other files are published as plain text. */
function resolveTarget(page, target, pages) {
  if (/^([a-z]+:|#)/.test(target)) return { href: target };
  const [path, hash = ""] = target.split("#");
  const to = posix.normalize(posix.join(posix.dirname(page), path)).replace(/\/$/, "");
  const anchor = hash === "" ? "" : `#${hash}`;
  if (to.startsWith("docs/pictures/")) return { href: fromFile(page, to.slice("docs/".length)) };
  const isPage = to === "README.md" || pages.includes(to);
  if (isPage) return { href: fromPage(page, slugOf(to), anchor) };
  return { href: fromPage(page, sourceOf(to), ""), file: to };
}

/** Relative, so that the site can be built for any folder of a server (Astro's `base`). */
function fromPage(page, to, anchor) {
  const isFile = posix.extname(to) !== "";
  const path = posix.relative(slugOf(page), to) || ".";
  return `${path}${isFile ? "" : "/"}${anchor}`;
}

/** Pictures are relative to the source file, which is one folder above the page's address. */
function fromFile(page, picture) {
  const path = posix.relative(posix.dirname(fileOf(page)), picture);
  return path.startsWith(".") ? path : `./${path}`;
}

function fileOf(page) {
  return page.endsWith("/README.md") ? `${slugOf(page)}/index` : slugOf(page);
}

function sourceOf(file) {
  return `source/${file}.txt`;
}

/** The text of a file, or the list of a folder's entries. */
function sourceText(root, file) {
  const path = join(root, file);
  if (!statSync(path).isDirectory()) return readFileSync(path, "utf8");
  const names = readdirSync(path, { withFileTypes: true });
  const list = names.map((entry) => `${entry.name}${entry.isDirectory() ? "/" : ""}`);
  return `${file}:\n\n${list.sort().join("\n")}\n`;
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
