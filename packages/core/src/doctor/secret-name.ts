const secretName = /(?:^|[_-])(?:TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$/i;

/** Whether a variable or header is called what people call those that hold a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}
