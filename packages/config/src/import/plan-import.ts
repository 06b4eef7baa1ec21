import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Problem, ProblemsError, UserError } from "@herdctl/protocol";
import { globSync } from "tinyglobby";
import { parseDocument } from "yaml";
import type { Environment } from "../environment.ts";
import { loadFleet } from "../load-fleet.ts";
import { causeOf, type ProblemCause } from "../problem-cause.ts";
import { readText } from "../yaml/read-document.ts";
import { ImportDraft, placeOf } from "./draft.ts";
import type { ImportFinding } from "./findings.ts";
import { addPrompt, allowInFleetFile, refuseMount, removeUnknownKey } from "./follow-up-edits.ts";
import { replacePlainSecrets } from "./plain-secrets.ts";
import { type DocumentRole, translateText } from "./translate-document.ts";
import type { WorkspaceDefaults } from "./workspace-rules.ts";

export interface ImportedFile {
  file: string;
  before: string;
  after: string;
}

/** What an import would write. Nothing is written yet. */
export interface ImportPlan {
  fleetFile: string;
  files: ImportedFile[];
  findings: ImportFinding[];
  /** Variables to add to `.env`; the value is empty if a person must fill it in. */
  variables: Record<string, string>;
  /** Folders to create for agents without a folder. */
  folders: string[];
  /** Problems that the loader finds in the result. The result can be used if there are none. */
  problems: Problem[];
}

/** Each round solves at least one problem of the result. */
const maxRounds = 500;

/**
 * Translates a fleet file in the format of the other project called herdctl, with all files that it
 * names, until the loader accepts the result.
 */
export function planImport(fleetFile: string, env: Environment): ImportPlan {
  const fleet = new FleetImport(resolve(fleetFile));
  fleet.translateFleet(resolve(fleetFile));
  for (let round = 0; round < maxRounds; round++) {
    const problems = fleet.check(env);
    // An edit moves the positions of later problems, so each round solves one.
    if (!problems.some((problem) => fleet.solve(problem))) return fleet.finish(problems);
  }
  return fleet.finish(fleet.check(env));
}

class FleetImport {
  private readonly draft: ImportDraft;
  private readonly variables: Record<string, string> = {};

  constructor(fleetFile: string) {
    this.draft = new ImportDraft(fleetFile);
  }

  translateFleet(file: string): void {
    if (this.draft.texts.has(file)) return;
    const workspace = this.translateFile(file, { kind: "fleet" });
    const content: unknown = parseDocument(this.draft.text(file)).toJS() ?? {};
    for (const path of pathsOf(content, "agents")) {
      for (const agentFile of globSync([path], { cwd: dirname(file), absolute: true }))
        this.translateFile(resolve(agentFile), { kind: "agent", workspace });
    }
    for (const path of pathsOf(content, "fleets")) {
      const target = resolve(dirname(file), path);
      const included =
        target.endsWith(".yaml") || target.endsWith(".yml") ? target : join(target, "herdctl.yaml");
      if (existsSync(included)) this.translateFleet(included);
    }
  }

  /** The problems of the translated fleet. */
  check(env: Environment): Problem[] {
    try {
      loadFleet(this.draft.fleetFile, { ...this.variables, ...env }, this.draft.texts);
      return [];
    } catch (error) {
      if (error instanceof ProblemsError) return error.problems;
      throw error;
    }
  }

  /** Returns whether the cause of a problem is known and was removed. */
  solve(problem: Problem): boolean {
    const cause = causeOf(problem);
    return cause !== undefined && this.solveCause(problem, cause);
  }

  finish(problems: Problem[]): ImportPlan {
    const files = [...this.draft.texts].map(([file, after]) => ({
      file,
      before: readText(file),
      after,
    }));
    const { fleetFile, findings, folders } = this.draft;
    const { variables } = this;
    return {
      fleetFile,
      files: files.filter(({ before, after }) => before !== after),
      findings: findings.sort(
        (a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column,
      ),
      variables,
      folders,
      problems,
    };
  }

  private solveCause(problem: Problem, cause: ProblemCause): boolean {
    switch (cause.kind) {
      case "unknown_key":
        return removeUnknownKey(this.draft, problem);
      case "prompt_missing":
        return addPrompt(this.draft, problem);
      case "variable_not_set":
        return this.addVariable(problem, cause.name);
      case "mount_refused":
        return refuseMount(this.draft, problem, cause.agent);
      case "not_granted":
        return allowInFleetFile(this.draft, problem, cause.grants, cause.content);
    }
  }

  private addVariable(problem: Problem, name: string): boolean {
    if (name in this.variables) return false;
    this.variables[name] = "";
    const message = `the variable ${name} is not set; add its value to \`.env\``;
    this.draft.findings.push({ ...placeOf(problem), kind: "decision", path: name, message });
    return true;
  }

  private translateFile(file: string, role: DocumentRole): WorkspaceDefaults {
    if (this.draft.texts.has(file)) return {};
    const original = readText(file);
    const { errors } = parseDocument(original);
    if (errors.length > 0) {
      // The loader explains what is wrong with the file.
      this.draft.texts.set(file, original);
      return {};
    }
    assertKnownVersion(file, original);
    const { text, findings, workspace } = translateText(file, original, role);
    const secrets = replacePlainSecrets(file, text, Object.keys(this.variables));
    this.draft.texts.set(file, secrets.text);
    this.draft.findings.push(...findings, ...secrets.findings);
    Object.assign(this.variables, secrets.variables);
    return workspace;
  }
}

function assertKnownVersion(file: string, text: string): void {
  const content: unknown = parseDocument(text).toJS();
  const version =
    typeof content === "object" && content !== null && "version" in content
      ? content.version
      : undefined;
  if (version === undefined || version === 1) return;
  throw new UserError("import_failed", `${file} has version ${String(version)} of its format`, {
    hint: "Only version 1 can be imported. Upgrade the file with the program that wrote it.",
  });
}

function pathsOf(content: unknown, list: string): string[] {
  if (typeof content !== "object" || content === null) return [];
  const entries: unknown = Object.entries(content).find(([key]) => key === list)?.[1];
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) =>
    typeof entry === "object" && entry !== null && "path" in entry && typeof entry.path === "string"
      ? [entry.path]
      : [],
  );
}
