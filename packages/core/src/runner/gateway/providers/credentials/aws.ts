import type { Environment } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import type { AwsKeySource, AwsKeys } from "../../../../claude/provider/credential-sources.ts";
import { awsKeysFromCommand } from "./command.ts";
import { importOptional } from "./optional-packages.ts";
import type { Expiring } from "./renewable.ts";

/** Keys from a source that the AWS tools know. */
export async function awsKeys(
  source: AwsKeySource,
  region: string,
  environment: Environment,
): Promise<Expiring<AwsKeys>> {
  if (source.from === "variables") return { value: source.keys };
  if (source.from === "command") return awsKeysFromCommand(source.command, environment);
  const library = await importOptional(
    "@aws-sdk/credential-providers",
    "aws",
    () => import("@aws-sdk/credential-providers"),
  );
  try {
    const { expiration, accessKeyId, secretAccessKey, sessionToken } = await loadKeys();
    return {
      value: { accessKeyId, secretAccessKey, sessionToken },
      expiresAt: expiration?.getTime(),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new UserError("credential_unavailable", `no AWS credentials: ${reason}`, {
      hint: hints[source.from],
      cause: error,
    });
  }

  function loadKeys() {
    const clientConfig = { region };
    if (source.from === "profile") {
      const { profile, configFile, credentialsFile } = source;
      const files = { configFilepath: configFile, filepath: credentialsFile, ignoreCache: true };
      return library.fromIni({ profile, ...files, clientConfig })();
    }
    if (source.from === "web_identity") {
      const { tokenFile, roleArn, sessionName } = source;
      const role = { webIdentityTokenFile: tokenFile, roleArn, roleSessionName: sessionName };
      return library.fromTokenFile({ ...role, clientConfig })();
    }
    if (source.from === "container") {
      const { relativeUri, fullUri } = source.address;
      return library.fromHttp({
        awsContainerCredentialsRelativeUri: relativeUri,
        awsContainerCredentialsFullUri: fullUri,
        awsContainerAuthorizationToken: source.token,
      })();
    }
    return library.fromInstanceMetadata({ timeout: 2_000, maxRetries: 1 })();
  }
}

const hints = {
  profile: "Check the profile with `aws sts get-caller-identity`, or run `aws sso login`.",
  web_identity: "Check AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN.",
  container: "Check the role of the container's task.",
  instance: "Check the role of the machine and its metadata service.",
} as const;
