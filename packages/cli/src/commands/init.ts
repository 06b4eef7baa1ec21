import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { jsonSchema, UserError } from "@herdctl/core";
import type { Call } from "../command.ts";
import {
  askAboutFleet,
  type Example,
  type FleetPlan,
  fleetName,
  fleetNameHint,
} from "./init-questions.ts";

const examplesDir = fileURLToPath(new URL("./examples/", import.meta.url));

export async function run({ options, cwd, terminal }: Call): Promise<number> {
  const examples = readdirSync(examplesDir).sort();
  const plan = plannedByOptions(options.example, options.name, examples, cwd);
  refuseToOverwrite(cwd, ["herdctl.yaml", "herdctl.yml"]);
  const silent = options.yes === true || !terminal.interactive || terminal.json;
  const final = silent ? plan : await askAboutFleet(plan, describeExamples(examples));
  if (final === undefined) return 4;

  const written = [...copyExample(final, cwd), ...writeSchemas(cwd), ...ignoreState(cwd)];
  if (terminal.json) {
    terminal.printJson({ name: final.name, example: final.example, files: written });
    return 0;
  }
  const { green, bold, dim } = terminal.colors;
  for (const file of written) terminal.print(`${green("+")} ${file}`);
  terminal.print(`\n${bold(final.name)} is ready. ${dim("Next: herdctl config check")}`);
  return 0;
}

function plannedByOptions(
  example: Call["options"][string],
  name: Call["options"][string],
  examples: string[],
  cwd: string,
): FleetPlan {
  const chosen = typeof example === "string" ? example : "hello";
  if (!examples.includes(chosen)) {
    throw new UserError("usage", `there is no example \`${chosen}\``, {
      hint: `Examples: ${examples.join(", ")}.`,
    });
  }
  if (typeof name === "string" && !fleetName.test(name)) {
    throw new UserError("usage", `"${name}" is not a valid name`, { hint: fleetNameHint });
  }
  const fromFolder = basename(cwd)
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 64);
  return { example: chosen, name: typeof name === "string" ? name : fromFolder || "my-fleet" };
}

function refuseToOverwrite(cwd: string, files: string[]): void {
  const existing = files.find((file) => existsSync(join(cwd, file)));
  if (existing === undefined) return;
  throw new UserError("file_exists", `there is a ${existing} in this folder already`, {
    hint: "Edit it, or begin another fleet in another folder.",
  });
}

/** The comment at the head of an example's fleet file says what it is for, after its name. */
function describeExamples(examples: string[]): Example[] {
  return examples.map((name) => {
    const lines = readFileSync(join(examplesDir, name, "herdctl.yaml"), "utf8").split("\n");
    const comment = lines.find((line) => line.startsWith("# ") && !line.includes("$schema")) ?? "";
    const purpose = comment.replace(/^# ([\w-]+: )?/, "");
    return { name, summary: purpose.charAt(0).toUpperCase() + purpose.slice(1) };
  });
}

function copyExample({ example, name }: FleetPlan, cwd: string): string[] {
  const from = join(examplesDir, example);
  const files = exampleFiles(from).filter((path) => !isOwnReadme(path, cwd));
  refuseToOverwrite(cwd, files);
  for (const path of files) {
    const text = readFileSync(join(from, path), "utf8");
    const target = join(cwd, path);
    mkdirSync(dirname(target), { recursive: true });
    const isFleetFile = path === "herdctl.yaml";
    const renamed = isFleetFile ? text.replace(/(fleet:\s*\{?\s*name: )[\w-]+/, `$1${name}`) : text;
    writeFileSync(target, renamed, { flag: "wx" });
  }
  return files;
}

/** A project that is to have a fleet has a README already: that of the example is left out. */
function isOwnReadme(path: string, cwd: string): boolean {
  return path === "README.md" && existsSync(join(cwd, path));
}

function exampleFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((file) => relative(folder, join(file.parentPath, file.name)))
    .sort();
}

function writeSchemas(cwd: string): string[] {
  const folder = join(cwd, ".herdctl", "schema");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return (["fleet", "agent"] as const).map((of) => {
    const file = join(folder, `${of}.json`);
    writeFileSync(file, `${JSON.stringify(jsonSchema(of), null, 2)}\n`, { mode: 0o600 });
    return relative(cwd, file);
  });
}

function ignoreState(cwd: string): string[] {
  const file = join(cwd, ".gitignore");
  const present = existsSync(file) ? readFileSync(file, "utf8") : "";
  const missing = [".herdctl/", ".env"].filter((line) => !present.split("\n").includes(line));
  if (missing.length === 0) return [];
  const gap = present === "" || present.endsWith("\n") ? "" : "\n";
  appendFileSync(file, `${gap}${missing.join("\n")}\n`);
  return [".gitignore"];
}
