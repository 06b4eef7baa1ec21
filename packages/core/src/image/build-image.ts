import { access, constants } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import type Docker from "dockerode";
import type { Environment } from "../config/environment.ts";
import { UserError } from "../errors/user-error.ts";
import { agentImage, imageContract, imageLabels } from "../runner/container/agent-image.ts";
import { connectEngine } from "../runner/container/engine.ts";
import { sdkBinary } from "../runner/sdk-claude.ts";
import { type BuildEvent, buildEvents } from "./build-events.ts";
import { BuildStory } from "./build-story.ts";
import { packFiles } from "./pack-files.ts";

export interface BuildOptions {
  env: Environment;
  /** Image to build upon; the Dockerfile's own choice when not given. */
  base?: string;
  /** Name of the image; the one that agents look for when not given. */
  tag?: string;
  /** Dockerfile instead of ours. */
  file?: string;
  onEvent?: (event: BuildEvent) => void;
}

export interface BuiltImage {
  image: string;
  id: string;
  /** Version of the `claude` inside. */
  claude: string;
}

/** Makes the image that agents run in, by the engine's own builder; quick when nothing changed. */
export async function buildImage(options: BuildOptions): Promise<BuiltImage> {
  const { name, claude } = agentImage();
  const image = options.tag ?? name;
  const dockerfile = options.file ?? ownFile("Dockerfile");
  await checkReadable(dockerfile);
  const engine = await connectEngine(options.env);
  const context = packFiles([
    { name: "Dockerfile", path: dockerfile, mode: 0o644 },
    { name: "herdctl-launch", path: ownFile("herdctl-launch"), mode: 0o755 },
    { name: "claude", path: await binaryFor(engine), mode: 0o755 },
  ]);
  const story = new BuildStory(options.base);
  const id = await follow(engine, context, story, {
    t: image,
    ...(options.base !== undefined && { buildargs: { BASE: options.base } }),
    labels: { [imageLabels.contract]: imageContract, [imageLabels.claude]: claude },
    // What a failed step leaves would never be looked at.
    forcerm: true,
    onEvent: options.onEvent,
  });
  return { image, id, claude };
}

type BuildParameters = Docker.ImageBuildOptions & Pick<BuildOptions, "onEvent">;

async function follow(
  engine: Docker,
  context: Readable,
  story: BuildStory,
  { onEvent, ...parameters }: BuildParameters,
): Promise<string> {
  try {
    const answer = await engine.buildImage(context, parameters);
    for await (const event of buildEvents(answer)) {
      story.add(event);
      onEvent?.(event);
    }
  } catch (error) {
    throw story.failure(error);
  }
  return story.end();
}

async function checkReadable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK);
  } catch (cause) {
    throw new UserError("file_unreadable", `${file} cannot be read.`, { cause });
  }
}

function ownFile(name: string): string {
  const manifest = createRequire(import.meta.url).resolve("@herdctl/core/package.json");
  return join(dirname(manifest), "image", name);
}

const platforms: Record<string, string> = { amd64: "linux-x64", arm64: "linux-arm64" };

/** The engine may live in a machine of another kind, as it does on a Mac. */
async function binaryFor(engine: Docker): Promise<string> {
  const { Arch: arch } = await engine.version();
  const platform = platforms[arch];
  const binary = platform && sdkBinary(platform);
  if (binary) return binary;
  throw new UserError(
    "image_not_built",
    `There is no \`claude\` here that runs in containers of this engine (Linux, ${arch}).`,
    {
      hint: platform
        ? `Install @anthropic-ai/claude-agent-sdk-${platform} in the version of the Agent SDK, then build again.`
        : "Claude Code runs on amd64 and arm64 only.",
    },
  );
}
