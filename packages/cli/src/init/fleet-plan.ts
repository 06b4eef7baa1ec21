import { UserError } from "@herdctl/protocol";
import { type Runtime, reviewerName } from "./reviewer-fleet.ts";
import type { SignIn, Surroundings } from "./surroundings.ts";

/** What `init` writes. */
export interface FleetPlan {
  name: string;
  /** An example, or `reviewer` for a fleet that fits the repository. */
  example: string;
  /** For agents that do not set their own runtime. */
  runtime: Runtime;
}

export const fleetNamePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const fleetNameHint = "Use letters, digits, - and _, at most 64 characters.";

interface PlanRequest {
  example: string | undefined;
  name: string | undefined;
  folderName: string;
}

export function planFleet(
  request: PlanRequest,
  examples: readonly string[],
  surroundings: Surroundings,
): FleetPlan {
  if (request.name !== undefined && !fleetNamePattern.test(request.name)) {
    throw new UserError("usage", `"${request.name}" is not a valid name`, { hint: fleetNameHint });
  }
  return {
    name: request.name ?? validName(request.folderName),
    example: chooseExample(request.example, examples, surroundings),
    runtime: chooseRuntime(surroundings.signIn),
  };
}

/** The SDK runtime accepts only an API key; without any sign-in, `cli` works with both later. */
function chooseRuntime({ subscription, keyVariable }: SignIn): Runtime {
  return keyVariable !== undefined && !subscription ? "sdk" : "cli";
}

function chooseExample(
  asked: string | undefined,
  examples: readonly string[],
  { git }: Surroundings,
): string {
  if (asked === undefined) return git === undefined ? "hello" : reviewerName;
  // The British spelling of earlier versions is accepted as well.
  const example = asked.replace(/optimised$/, "optimized");
  if (example === reviewerName && git === undefined) {
    throw new UserError("usage", "the example `reviewer` needs a git repository", {
      hint: "Run `git init` first, or choose another example.",
    });
  }
  if (example !== reviewerName && !examples.includes(example)) {
    throw new UserError("usage", `there is no example \`${asked}\``, {
      hint: `Examples: ${[...examples, reviewerName].sort().join(", ")}.`,
    });
  }
  return example;
}

function validName(folderName: string): string {
  const name = folderName.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[-_]+/, "");
  return name.slice(0, 64) || "my-fleet";
}
