import type { Environment } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { execa } from "execa";
import { z } from "zod";
import type { AwsKeys } from "../../../../claude/provider/credential-sources.ts";
import type { Expiring } from "./renewable.ts";

const timeoutMs = 60_000;
/** Claude Code runs its own `apiKeyHelper` again after the same time. */
const defaultLifetimeMs = 5 * 60_000;
/** `renewable.ts` fetches a credential this long before its end. */
const renewalMarginMs = 5 * 60_000;

const tokenSchema = z.object({
  token: z.string().min(1),
  expires_at: z.iso.datetime({ offset: true }).optional(),
});

/** The printed key or token, or `{ "token": …, "expires_at": … }`. */
export async function tokenFromCommand(
  command: string,
  environment: Environment,
  now = Date.now(),
): Promise<Expiring<string>> {
  const output = await runCommand(command, environment);
  if (!output.startsWith("{")) return { value: checkToken(output), expiresAt: fallbackEnd(now) };
  const parsed = tokenSchema.safeParse(parseJson(output));
  if (!parsed.success) throw wrongOutput("a token, or JSON with `token` and `expires_at`");
  const { token, expires_at } = parsed.data;
  const expiresAt = expires_at === undefined ? fallbackEnd(now) : Date.parse(expires_at);
  return { value: checkToken(token), expiresAt };
}

const awsOutputSchema = z.object({
  AccessKeyId: z.string().min(1),
  SecretAccessKey: z.string().min(1),
  SessionToken: z.string().optional(),
  Expiration: z.string().optional(),
});

/** The JSON of a `credential_process` of the AWS tools. */
export async function awsKeysFromCommand(
  command: string,
  environment: Environment,
  now = Date.now(),
): Promise<Expiring<AwsKeys>> {
  const parsed = awsOutputSchema.safeParse(parseJson(await runCommand(command, environment)));
  if (!parsed.success) throw wrongOutput("JSON with `AccessKeyId` and `SecretAccessKey`");
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = parsed.data;
  const end = Date.parse(Expiration ?? "");
  return {
    value: {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
    },
    expiresAt: Number.isNaN(end) ? fallbackEnd(now) : end,
  };
}

function fallbackEnd(now: number): number {
  return now + defaultLifetimeMs + renewalMarginMs;
}

async function runCommand(command: string, environment: Environment): Promise<string> {
  const result = await execa(command, {
    shell: true,
    env: environment,
    extendEnv: false,
    reject: false,
    timeout: timeoutMs,
    stdin: "ignore",
    maxBuffer: 100_000,
  });
  if (result.failed) {
    const how = result.timedOut
      ? `did not end within ${timeoutMs / 1000} s`
      : `failed (${result.exitCode === undefined ? (result.signal ?? "not started") : `exit code ${result.exitCode}`})`;
    throw problem(`the \`credential_command\` ${how}`);
  }
  return result.stdout.trim();
}

function checkToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw wrongOutput("one token without spaces");
}

/** The output is not shown, because it may contain a secret. */
function wrongOutput(expected: string): UserError {
  return problem(`the \`credential_command\` did not print ${expected}`);
}

function problem(message: string): UserError {
  return new UserError("credential_unavailable", message, {
    hint: "Run the command by hand on the machine of the fleet.",
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
