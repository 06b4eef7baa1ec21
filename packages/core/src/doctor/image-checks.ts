import type Docker from "dockerode";
import type { ResolvedAgent } from "../config/resolve.ts";
import {
  type AgentImage,
  agentImage,
  imageContract,
  imageLabels,
} from "../runner/container/agent-image.ts";
import { type ImageInfo, imageInfo } from "../runner/container/engine.ts";
import { type Finding, failed, ok, unknown, warning } from "./check.ts";

/** Each image that agents name, or the one that they would get. */
export async function imageChecks(
  engine: Docker,
  agents: readonly ResolvedAgent[],
): Promise<Finding[]> {
  const own = agentImage();
  const names = new Set(agents.map(({ docker }) => docker.image ?? own.name));
  if (names.size === 0) return await unneeded(engine, own);
  return await Promise.all(
    [...names].map(async (name) => judgeImage(name, await imageInfo(engine, name), own.claude)),
  );
}

/** Nobody runs in it yet: it may be missing. */
async function unneeded(engine: Docker, { name, claude }: AgentImage): Promise<Finding[]> {
  const info = await imageInfo(engine, name);
  if (info.kind === "present") return [judgeImage(name, info, claude)];
  const message = "There is no image for agents yet, and no agent that runs in a container.";
  return [unknown("image", message, "Run `herdctl docker build` to make one.")];
}

function judgeImage(name: string, info: ImageInfo, claude: string): Finding {
  const build = "Run `herdctl docker build`";
  if (info.kind === "missing") {
    return failed("image", `There is no image \`${name}\` on this machine.`, `${build}.`);
  }
  const { [imageLabels.contract]: contract, [imageLabels.claude]: carried } = info.labels;
  if (contract !== imageContract) {
    const message = `\`${name}\` is not an image that this herdctl can use.`;
    return failed("image", message, `${build} to make one, or build yours upon it.`);
  }
  if (carried === claude) return ok("image", `\`${name}\` carries Claude Code ${claude}.`);
  return warning(
    "image",
    `\`${name}\` carries Claude Code ${carried}, but ${claude} belongs to this herdctl.`,
    `${build} again, with the options that made it.`,
  );
}
