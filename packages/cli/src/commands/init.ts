import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadFleet } from "@herdctl/config";
import { ProblemsError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { askFleetPlan, type Example } from "../init/ask-fleet-plan.ts";
import { planFleet } from "../init/fleet-plan.ts";
import { foundLines } from "../init/report-init.ts";
import { reviewerName } from "../init/reviewer-fleet.ts";
import { readSurroundings } from "../init/surroundings.ts";
import { assertNotExisting, writeFleet } from "../init/write-fleet.ts";

const examplesDir = fileURLToPath(new URL("./examples/", import.meta.url));

export async function run({ options, cwd, env, terminal }: CommandContext): Promise<number> {
  const names = readdirSync(examplesDir).sort();
  const surroundings = await readSurroundings(cwd, env);
  const request = {
    example: textOption(options, "example"),
    name: textOption(options, "name"),
    folderName: basename(cwd),
  };
  const plan = planFleet(request, names, surroundings);
  assertNotExisting(cwd, ["herdctl.yaml", "herdctl.yml"]);
  const isSilent = options.yes === true || !terminal.isInteractive || terminal.isJson;
  const examples = [
    ...(surroundings.git === undefined ? [] : [reviewerExample]),
    ...describeExamples(names),
  ];
  if (!terminal.isJson) for (const line of foundLines(surroundings, terminal)) terminal.print(line);
  if (!terminal.isJson) terminal.print("");
  const chosen = isSilent ? plan : await askFleetPlan(plan, examples, surroundings.signIn);
  if (chosen === undefined) return 4;

  const files = writeFleet(chosen, { cwd, examplesDir, surroundings });
  const { agents, problems } = await checkWritten(join(cwd, "herdctl.yaml"), env);
  const next = nextCommand(agents, problems.length === 0);
  if (terminal.isJson) {
    terminal.printJson({ ...chosen, agents, files, found: surroundings, sign_in: problems, next });
    return 0;
  }
  const { green, yellow, bold, dim } = terminal.colors;
  for (const file of files) terminal.print(`${green("+")} ${file}`);
  terminal.print("");
  for (const { agents: who, message, hint } of problems) {
    terminal.print(`${yellow("!")} ${who.join(", ")} cannot sign in: ${message}`);
    terminal.print(`  ${dim(hint)}`);
  }
  terminal.print(`${bold(chosen.name)} is ready. ${dim(`Next: ${next}`)}`);
  return 0;
}

const reviewerExample: Example = {
  name: reviewerName,
  summary: "Reviews the commits of this repository",
};

/** Each example's fleet file begins with the comment `# NAME: PURPOSE`. */
function describeExamples(examples: string[]): Example[] {
  return examples.map((name) => {
    const lines = readFileSync(join(examplesDir, name, "herdctl.yaml"), "utf8").split("\n");
    const comment = lines.find((line) => line.startsWith("# ") && !line.includes("$schema")) ?? "";
    const purpose = comment.replace(/^# ([\w-]+: )?/, "");
    return { name, summary: purpose.charAt(0).toUpperCase() + purpose.slice(1) };
  });
}

/** Some examples need variables before they can be loaded; `config check` names them. */
async function checkWritten(file: string, env: NodeJS.ProcessEnv) {
  try {
    const { fleet, environment } = loadFleet(file, env);
    const { findSignInProblems } = await import("@herdctl/core/internal");
    const agents = fleet.agents.map(({ name }) => name);
    return { agents, problems: findSignInProblems(fleet.agents, environment) };
  } catch (error) {
    if (error instanceof ProblemsError) return { agents: [], problems: [] };
    throw error;
  }
}

function nextCommand([first, ...others]: string[], canSignIn: boolean): string {
  if (!canSignIn) return "herdctl doctor";
  return first !== undefined && others.length === 0
    ? `herdctl trigger ${first} --wait`
    : "herdctl config check";
}
