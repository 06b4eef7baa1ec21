import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Environment } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { z } from "zod";

export interface EngineAddress {
  socketPath: string;
  /** Where the address comes from, for messages. */
  source: string;
}

const defaultHost = "unix:///var/run/docker.sock";

/** The engine that the `docker` command would use: from a variable, a context, or the default. */
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
    `The address of the Docker engine (from ${source}) is not a socket of this machine: ${host}`,
  );
}

const configSchema = z.object({ currentContext: z.string().optional() });

/** Undefined if the file is missing or unreadable, which means that no context was chosen. */
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
      `The Docker context \`${context}\` has no engine address.`,
      { hint: "Choose another with `docker context use`, or set `DOCKER_HOST`.", cause },
    );
  }
}
