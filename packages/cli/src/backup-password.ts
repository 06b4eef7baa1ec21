import { UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "./command.ts";

/** The password in the variable that `--password-env` names. Arguments are visible to other users. */
export function backupPassword(
  { options }: CommandContext,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const variable = textOption(options, "passwordEnv");
  if (variable === undefined) return undefined;
  const password = environment[variable];
  if (password) return password;
  throw new UserError("usage", `the environment variable ${variable} is not set`, {
    hint: `Set ${variable} to the password of the backup.`,
  });
}
