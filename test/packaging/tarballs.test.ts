import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkout } from "../cli/run-herdctl.ts";
import { packAll, readTarball, tarballsIn } from "./npm-packages.ts";

const release = await packAll(afterAll);
const packages = tarballsIn(release).map((tarball) => {
  const files = readTarball(tarball);
  return { files, manifest: JSON.parse(files.get("package.json") ?? "") };
});

const requiredFiles = [/^package\.json$/, /^README\.md$/, /^LICENSE$/];
const programFile = /^dist\/[\w-]+\.mjs$/;
const typesFile = /^dist\/[\w-]+\.d\.mts$/;

/** The allowed files of each package; each pattern must match some file. */
const allowedFiles: Record<string, RegExp[]> = {
  herdctl: [
    programFile,
    /^dist\/examples\/[\w-]+\/(?!.*(?:^|\/)(?:\.env|\.herdctl|node_modules)(?:\/|$)).+$/,
    /^dist\/plugin\/.+\.(?:md|json)$/,
    /^dist\/licenses\/[\w-]+$/,
    /^demo\/(?:herdctl|model|agents\/\w+)\.yaml$/,
    /^demo\/project\/price(?:\.test)?\.mjs$/,
  ],
  "@herdctl/core": [
    programFile,
    typesFile,
    /^dist\/runner\/process\/main\.(?:mjs|d\.mts)$/,
    /^image\/(?:Dockerfile|herdctl-launch)$/,
    /^self-test\/[\w-]+\.sh$/,
  ],
  "@herdctl/server": [
    programFile,
    typesFile,
    /^dashboard\/(?:index\.html|icon\.svg|theme\.js|sw\.js|manifest\.webmanifest|favicon\.ico)$/,
    /^dashboard\/icon-[\w-]+\.png$/,
    /^dashboard\/assets\/[\w-]+\.(?:js|css)$/,
  ],
  "@herdctl/protocol": [programFile, typesFile],
  "@herdctl/config": [programFile, typesFile],
  "@herdctl/discord": [programFile, typesFile],
  "@herdctl/slack": [programFile, typesFile],
  "@herdctl/rehearsal": [programFile, typesFile],
};

test("packs every public package and no other", () => {
  const names = packages.map(({ manifest }) => manifest.name);
  expect(names.sort()).toEqual(Object.keys(allowedFiles).sort());
});

test.each(packages)("packs exactly what $manifest.name needs", ({ manifest, files }) => {
  const known = [...requiredFiles, ...(allowedFiles[manifest.name] ?? [])];
  const names = [...files.keys()];
  expect(names.filter((name) => !known.some((one) => one.test(name)))).toEqual([]);
  expect(known.filter((one) => !names.some((name) => one.test(name)))).toEqual([]);
});

test.each(packages)("contains nothing about the build machine in $manifest.name", ({ files }) => {
  const telltale = [`${checkout}/`, `${homedir()}/`, "sourceMappingURL"];
  const telling = [...files].filter(([, text]) => telltale.some((one) => text.includes(one)));
  expect(telling.map(([name]) => name)).toEqual([]);
});

test.each(packages)(
  "describes $manifest.name and its requirements, and runs nothing on installation",
  ({ manifest, files }) => {
    expect(manifest).toMatchObject({
      license: "MIT",
      type: "module",
      engines: { node: ">=22.13" },
      description: expect.stringMatching(/\w+/),
    });
    expect(
      Object.keys(manifest.scripts ?? {}).filter((name) => /install|pre|post/.test(name)),
    ).toEqual([]);
    // An application pins its dependencies; a library leaves the choice to the program.
    const range = manifest.name === "herdctl" ? /^\d+\.\d+\.\d+$/ : /^\^?\d+\.\d+\.\d+$/;
    const ranges: string[] = Object.values(manifest.dependencies ?? {});
    expect(ranges.filter((one) => !range.test(one))).toEqual([]);
    expect(files.get("README.md")).toMatch(new RegExp(`^# ${manifest.name}\n`));
    expect(files.get("LICENSE")).toContain("MIT License");
  },
);

/** Types may come from packages with their own types or with types among the dependencies. */
test.each(packages)(
  "imports only installed types in the types of $manifest.name",
  ({ manifest, files }) => {
    const declared = Object.keys(manifest.dependencies ?? {});
    const texts = [...files].flatMap(([name, text]) => (name.endsWith(".d.mts") ? [text] : []));
    const named = texts.flatMap((text) => [...text.matchAll(/ from "((?:@[\w-]+\/)?[\w-]+)["/]/g)]);
    const imported = new Set(named.map(([, one = ""]) => one));
    const isTyped = (one: string) => hasOwnTypes(one) || declared.includes(`@types/${one}`);
    const untyped = [...imported].filter((one) => !declared.includes(one) || !isTyped(one));
    expect(untyped).toEqual([]);
  },
);

function hasOwnTypes(name: string): boolean {
  const places = ["", ...readdirSync(join(checkout, "packages")).map((one) => `packages/${one}`)];
  const manifest = places
    .map((place) => join(checkout, place, "node_modules", name, "package.json"))
    .find((file) => existsSync(file));
  return manifest !== undefined && /"(types|typings)":/.test(readFileSync(manifest, "utf8"));
}

interface Component {
  "bom-ref": string;
  properties?: { value: string }[];
}

test("names every dependency in the bill of materials, including bundled ones, and no host", () => {
  const text = readFileSync(join(release, "sbom.cdx.json"), "utf8");
  const { bomFormat, components, metadata } = JSON.parse(text);
  expect(bomFormat).toBe("CycloneDX");
  expect(metadata.component).toMatchObject({ name: "herdctl", type: "application" });
  const named = new Map<string, Component>(
    components.map((one: Component) => [one["bom-ref"], one]),
  );
  const needed = packages.flatMap(({ manifest }) =>
    Object.entries<string>(manifest.dependencies ?? {}),
  );
  expect(needed.length).toBeGreaterThan(30);
  const missing = needed.filter(([name, range]) => {
    const reference = `pkg:npm/${name.replace("@", "%40")}@`;
    if (!range.startsWith("^")) return !named.has(reference + range);
    const major = `${reference}${range.slice(1).split(".")[0]}.`;
    return ![...named.keys()].some((one) => one.startsWith(major));
  });
  expect(missing).toEqual([]);
  const builtIn = [...named].filter(([, one]) => one.properties?.[0]?.value.startsWith("built in"));
  const names = builtIn.map(([reference]) => reference.replace(/@[^@]*$/, ""));
  expect(names).toEqual(expect.arrayContaining(["pkg:npm/commander", "pkg:npm/react"]));
  expect(text.replace(/"\$schema": "[^"]*"/, "")).not.toMatch(/https?:\/\//);
  for (const place of [checkout, homedir()]) expect(text).not.toContain(`${place}/`);
});

test("lists the correct checksums of the files", () => {
  const checked = execFileSync("sha256sum", ["-c", "SHA256SUMS"], { cwd: release });
  expect(checked.toString().match(/: OK$/gm)).toHaveLength(packages.length + 1);
});
