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

/** Fills the site's content from the plain pages of the repository, and says what it found. */
export function fillSite(root) {
  const content = join(root, "site/src/content/docs");
  const shown = join(root, "site/public");
  for (const name of readdirSync(content)) {
    if (name !== landing) rmSync(join(content, name), { recursive: true });
  }
  rmSync(shown, { recursive: true, force: true });
  cpSync(join(root, "docs/pictures"), join(content, "pictures"), { recursive: true });
  mkdirSync(shown, { recursive: true });
  cpSync(join(root, "packages/dashboard/public/icon.svg"), join(shown, "favicon.svg"));

  const pages = sidebar
    .flatMap((group) => group.pages)
    .filter((page) => existsSync(join(root, page)));
  const files = new Set();
  for (const page of pages) {
    const { title, body } = titled(readFileSync(join(root, page), "utf8"));
    const text = withTargets(body, (target) => {
      const place = placeOf(page, target, pages);
      if (place.file && !existsSync(join(root, place.file))) {
        throw new Error(`${page} leads to ${place.file}, which is not there`);
      }
      if (place.file) files.add(place.file);
      return place.href;
    });
    write(
      join(content, `${fileOf(page)}.md`),
      `---\ntitle: ${JSON.stringify(title)}\n---\n\n${text}`,
    );
  }
  for (const file of files) write(join(shown, sourceOf(file)), sourceText(root, file));
  return { pages, files: [...files] };
}

/** Where a target of a page leads on the site; a file that is no page is shown as it is. */
function placeOf(page, target, pages) {
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
  const way = posix.relative(slugOf(page), to) || ".";
  return `${way}${isFile ? "" : "/"}${anchor}`;
}

/** Pictures are found beside the file, which stands a folder higher than the page will. */
function fromFile(page, picture) {
  const way = posix.relative(posix.dirname(fileOf(page)), picture);
  return way.startsWith(".") ? way : `./${way}`;
}

function fileOf(page) {
  return page.endsWith("/README.md") ? `${slugOf(page)}/index` : slugOf(page);
}

function sourceOf(file) {
  return `source/${file}.txt`;
}

/** A folder is shown as the list of what is in it. */
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
