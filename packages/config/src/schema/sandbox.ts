import { z } from "zod";
import { nonEmptyText, variableName } from "./strings.ts";
import { block, fleetOnly } from "./trust.ts";

const field = <T extends z.ZodType>(schema: T) =>
  fleetOnly(schema, "Claude Code has no sandbox in a container");

const texts = (purpose: string) => field(z.array(nonEmptyText).prefault([]).describe(purpose));
const off = (purpose: string) => field(z.boolean().prefault(false).describe(purpose));
const on = (purpose: string) => field(z.boolean().prefault(true).describe(purpose));
const port = (purpose: string) => field(z.int().min(1).max(65_535).optional().describe(purpose));

const network = block({
  allowed_domains: texts("Hosts that commands may reach, such as `*.npmjs.org`."),
  denied_domains: texts("Hosts that commands may never reach."),
  strict: on("Refuse every other host. If false, an unknown host becomes a permission request."),
  allow_unix_sockets: texts("Unix sockets that commands may use (macOS)."),
  allow_all_unix_sockets: off("Let commands use every unix socket."),
  allow_local_binding: off("Let commands listen on local ports (macOS)."),
  allow_mach_lookup: texts("Further services that commands may look up (macOS)."),
  http_proxy_port: port("Your own HTTP proxy for commands, instead of Claude Code's."),
  socks_proxy_port: port("Your own SOCKS proxy for commands, instead of Claude Code's."),
});

const filesystem = block({
  allow_write: texts("Paths that commands may write besides the working directory."),
  deny_write: texts("Paths that commands may not write."),
  deny_read: texts("Paths that commands may not read."),
  allow_read: texts("Exceptions from `deny_read`."),
});

const credentials = block({
  files: texts("Files and folders that commands may not read."),
  env_vars: field(
    z.array(variableName).prefault([]).describe("Environment variables that commands do not get."),
  ),
});

/** Claude Code's sandbox for commands. Closed unless the operator opens it. */
export const sandbox = block({
  enabled: on("Run commands in Claude Code's sandbox."),
  fail_if_unavailable: on("Do not start a run whose sandbox cannot be set up."),
  allow_unsandboxed: off("Let the model run a command outside the sandbox."),
  auto_allow_bash: off("Allow commands in the sandbox without asking."),
  excluded_commands: texts("Commands that run outside the sandbox, such as `docker *`."),
  network: field(network.prefault({}).describe("Hosts that commands may reach.")),
  filesystem: field(filesystem.prefault({}).describe("Paths that commands may use.")),
  credentials: field(credentials.prefault({}).describe("Secrets that commands do not see.")),
  ignore_violations: field(
    z
      .record(nonEmptyText, z.array(nonEmptyText))
      .prefault({})
      .describe("Paths whose violations are not reported, by command; `*` for all commands."),
  ),
  weaker_nested: off("Keep the `/proc` of the host, for a fleet that itself runs in a container."),
  allow_nested_user_namespaces: off("Let commands create user namespaces, such as a browser."),
  weaker_network_isolation: off("Let commands use the trust service (macOS)."),
  allow_apple_events: off("Let commands send Apple Events (macOS)."),
});
