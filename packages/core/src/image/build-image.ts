import { createReadStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Environment } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import type Docker from "dockerode";
import { type Pack, pack } from "tar-stream";
import { sdkBinaryPath } from "../claude/binary.ts";
import { imageContractVersion, imageLabels, resolveAgentImage } from "../docker/docker-config.ts";
import { connectEngine } from "../docker/engine.ts";
import { type BuildEvent, BuildLog, parseBuildEvents } from "./build-log.ts";

export interface BuildImageOptions {
  env: Environment;
  /** Base image (default: the one in the Dockerfile). */
  base?: string;
  /** Name of the image (default: the name that agents use). */
  tag?: string;
  /** Path of a custom Dockerfile. */
  file?: string;
  onEvent?: (event: BuildEvent) => void;
}

export interface BuiltImage {
  image: string;
  id: string;
  claude: string;
}

/** Builds the image that agents run in, with the engine's builder; fast if nothing has changed. */
export async function buildImage(options: BuildImageOptions): Promise<BuiltImage> {
  const { name, claude } = resolveAgentImage();
  const image = options.tag ?? name;
  const dockerfile = options.file ?? packagedFile("Dockerfile");
  await checkReadable(dockerfile);
  const engine = await connectEngine(options.env);
  const context = createTarArchive([
    { name: "Dockerfile", path: dockerfile, mode: 0o644 },
    { name: "herdctl-launch", path: packagedFile("herdctl-launch"), mode: 0o755 },
    { name: "claude", path: await claudeBinaryFor(engine), mode: 0o755 },
  ]);
  const buildLog = new BuildLog(options.base);
  const id = await runBuild(engine, context, buildLog, {
    t: image,
    ...(options.base !== undefined && { buildargs: { BASE: options.base } }),
    labels: { [imageLabels.contract]: imageContractVersion, [imageLabels.claude]: claude },
    // Remove the containers of failed steps.
    forcerm: true,
    onEvent: options.onEvent,
  });
  return { image, id, claude };
}

type BuildParameters = Docker.ImageBuildOptions & Pick<BuildImageOptions, "onEvent">;

async function runBuild(
  engine: Docker,
  context: Readable,
  buildLog: BuildLog,
  { onEvent, ...parameters }: BuildParameters,
): Promise<string> {
  try {
    const buildStream = await engine.buildImage(context, parameters);
    for await (const event of parseBuildEvents(buildStream)) {
      buildLog.record(event);
      onEvent?.(event);
    }
  } catch (error) {
    throw buildLog.toUserError(error);
  }
  return buildLog.requireImageId();
}

async function checkReadable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK);
  } catch (cause) {
    throw new UserError("file_unreadable", `${file} cannot be read.`, { cause });
  }
}

function packagedFile(name: string): string {
  const manifest = createRequire(import.meta.url).resolve("@herdctl/core/package.json");
  return join(dirname(manifest), "image", name);
}

const sdkPlatforms: Record<string, string> = { amd64: "linux-x64", arm64: "linux-arm64" };

/** The engine may run on another platform, for example in a virtual machine on macOS. */
async function claudeBinaryFor(engine: Docker): Promise<string> {
  const { Arch: arch } = await engine.version();
  const platform = sdkPlatforms[arch];
  const binary = platform && sdkBinaryPath(platform);
  if (binary) return binary;
  throw new UserError(
    "image_not_built",
    `There is no \`claude\` binary for containers of this engine (Linux, ${arch}).`,
    {
      hint: platform
        ? `Install @anthropic-ai/claude-agent-sdk-${platform} with the same version as the Agent SDK, then build again.`
        : "Claude Code only supports amd64 and arm64.",
    },
  );
}

interface ArchiveEntry {
  name: string;
  path: string;
  mode: number;
}

function createTarArchive(files: ArchiveEntry[]): Readable {
  const archive = pack();
  addFiles(archive, files).catch((error: Error) => archive.destroy(error));
  return Readable.from(archive);
}

async function addFiles(archive: Pack, files: ArchiveEntry[]): Promise<void> {
  for (const { name, path, mode } of files) {
    const { size } = await stat(path);
    // A fixed time keeps the archive identical, so that the build cache applies.
    const entry = archive.entry({ name, size, mode, mtime: new Date(0) });
    await pipeline(createReadStream(path), entry);
  }
  archive.finalize();
}
