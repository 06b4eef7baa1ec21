import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import type { Environment } from "../../config/environment.ts";
import { UserError } from "../../errors/user-error.ts";

export interface EngineAddress {
  socketPath: string;
  /** Who named it, in words that fit into a message. */
  source: string;
}

const defaultHost = "unix:///var/run/docker.sock";

/** The engine that the `docker` command would speak to: by variable, by context, or the usual one. */
export function engineAddress(env: Environment): EngineAddress {
  if (env.DOCKER_HOST) return localAddress(env.DOCKER_HOST, "`DOCKER_HOST`");
  const folder = env.DOCKER_CONFIG || join(env.HOME || homedir(), ".docker");
  const context = env.DOCKER_CONTEXT || currentContext(folder);
  if (context === undefined || context === "default") {
    return localAddress(defaultHost, "the default");
  }
  return localAddress(contextHost(folder, context), `the Docker context \`${context}\``);
}

function localAddress(host: string, source: string): EngineAddress {
  const socketPath = host.startsWith("unix://") ? host.slice("unix://".length) : undefined;
  if (socketPath !== undefined && isAbsolute(socketPath)) return { socketPath, source };
  throw new UserError(
    "docker_remote",
    `The Docker engine that ${source} names is not a socket of this machine: ${host}`,
  );
}

const configSchema = z.object({ currentContext: z.string().optional() });

/** No file, or one that is not ours to judge, means that nobody chose a context. */
function currentContext(folder: string): string | undefined {
  try {
    const text = readFileSync(join(folder, "config.json"), "utf8");
    return configSchema.parse(JSON.parse(text)).currentContext || undefined;
  } catch {
    return undefined;
  }
}

const contextSchema = z.object({ Endpoints: z.object({ docker: z.object({ Host: z.string() }) }) });

function contextHost(folder: string, context: string): string {
  const name = createHash("sha256").update(context).digest("hex");
  const file = join(folder, "contexts/meta", name, "meta.json");
  try {
    return contextSchema.parse(JSON.parse(readFileSync(file, "utf8"))).Endpoints.docker.Host;
  } catch (cause) {
    throw new UserError(
      "docker_unavailable",
      `The Docker context \`${context}\` does not say where its engine is.`,
      { hint: "Choose another with `docker context use`, or set `DOCKER_HOST`.", cause },
    );
  }
}
