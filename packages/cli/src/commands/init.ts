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
import { jsonSchema } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import {
  type Example,
  type FleetPlan,
  fleetNameHint,
  fleetNamePattern,
  promptForFleetPlan,
} from "./init-questions.ts";

const examplesDir = fileURLToPath(new URL("./examples/", import.meta.url));

export async function run({ options, cwd, terminal }: CommandContext): Promise<number> {
  const examples = readdirSync(examplesDir).sort();
  const plan = planFromOptions(options.example, options.name, examples, cwd);
  assertNotExisting(cwd, ["herdctl.yaml", "herdctl.yml"]);
  const isSilent = options.yes === true || !terminal.isInteractive || terminal.isJson;
  const chosenPlan = isSilent ? plan : await promptForFleetPlan(plan, describeExamples(examples));
  if (chosenPlan === undefined) return 4;

  const written = [...copyExample(chosenPlan, cwd), ...writeSchemas(cwd), ...ignoreState(cwd)];
  if (terminal.isJson) {
    terminal.printJson({ name: chosenPlan.name, example: chosenPlan.example, files: written });
    return 0;
  }
  const { green, bold, dim } = terminal.colors;
  for (const file of written) terminal.print(`${green("+")} ${file}`);
  terminal.print(`\n${bold(chosenPlan.name)} is ready. ${dim("Next: herdctl config check")}`);
  return 0;
}

function planFromOptions(
  example: CommandContext["options"][string],
  name: CommandContext["options"][string],
  examples: string[],
  cwd: string,
): FleetPlan {
  // The British spelling of earlier versions is accepted as well.
  const chosen = typeof example === "string" ? example.replace(/optimised$/, "optimized") : "hello";
  if (!examples.includes(chosen)) {
    throw new UserError("usage", `there is no example \`${chosen}\``, {
      hint: `Examples: ${examples.join(", ")}.`,
    });
  }
  if (typeof name === "string" && !fleetNamePattern.test(name)) {
    throw new UserError("usage", `"${name}" is not a valid name`, { hint: fleetNameHint });
  }
  const folderName = basename(cwd)
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 64);
  return { example: chosen, name: typeof name === "string" ? name : folderName || "my-fleet" };
}

function assertNotExisting(cwd: string, files: string[]): void {
  const existing = files.find((file) => existsSync(join(cwd, file)));
  if (existing === undefined) return;
  throw new UserError("file_exists", `${existing} already exists in this folder`, {
    hint: "Edit it, or create the new fleet in another folder.",
  });
}

/** Each example's fleet file begins with the comment `# NAME: PURPOSE`. */
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
  assertNotExisting(cwd, files);
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

/** If the project already has a README, the example's README is not copied. */
function isOwnReadme(path: string, cwd: string): boolean {
  return path === "README.md" && existsSync(join(cwd, path));
}

function exampleFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((file) => relative(folder, join(file.parentPath, file.name)))
    .sort();
}

function writeSchemas(cwd: string): string[] {
  const folder = join(cwd, ".herdctl", "schema");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return (["fleet", "agent"] as const).map((kind) => {
    const file = join(folder, `${kind}.json`);
    writeFileSync(file, `${JSON.stringify(jsonSchema(kind), null, 2)}\n`, { mode: 0o600 });
    return relative(cwd, file);
  });
}

function ignoreState(cwd: string): string[] {
  const file = join(cwd, ".gitignore");
  const current = existsSync(file) ? readFileSync(file, "utf8") : "";
  const missing = [".herdctl/", ".env"].filter((line) => !current.split("\n").includes(line));
  if (missing.length === 0) return [];
  const gap = current === "" || current.endsWith("\n") ? "" : "\n";
  appendFileSync(file, `${gap}${missing.join("\n")}\n`);
  return [".gitignore"];
}
