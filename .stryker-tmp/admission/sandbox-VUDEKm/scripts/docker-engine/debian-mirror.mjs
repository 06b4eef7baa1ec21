import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The package source of this machine for its own release. */
export function ownMirror() {
  const release = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  const found = sourceFiles()
    .flatMap((file) => sourcesIn(file, readFileSync(file, "utf8")))
    .find(({ suite, components }) => suite === release && components.includes("main"));
  if (found) return found;
  throw new Error(`/etc/apt has no package source for ${release}`);
}

function sourceFiles() {
  const folder = "/etc/apt/sources.list.d";
  const more = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  return ["/etc/apt/sources.list", ...more].filter(
    (file) => /\.(list|sources)$/.test(file) && existsSync(file),
  );
}

/** Supports both formats: one line per source, or a paragraph of fields. */
function sourcesIn(file, text) {
  if (file.endsWith(".list")) return text.split("\n").flatMap(sourceOfLine);
  return text.split(/\n\s*\n/).flatMap(sourcesOfParagraph);
}

function sourceOfLine(line) {
  const [, uri, suite, rest] = /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
  return uri ? [{ uri, suite, components: rest.split(/\s+/) }] : [];
}

function sourcesOfParagraph(paragraph) {
  const field = (name) =>
    (new RegExp(`^${name}:\\s*(.*)$`, "mi").exec(paragraph)?.[1] ?? "").trim().split(/\s+/);
  if (!field("Types").includes("deb") || field("Enabled").includes("no")) return [];
  const [uri] = field("URIs");
  return field("Suites").map((suite) => ({ uri, suite, components: field("Components") }));
}
