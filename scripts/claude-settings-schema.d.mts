export function buildSettingsSchema(): Record<string, unknown>;
export function settingsSchemaOf(declarations: string): Record<string, unknown>;
