import type { Browser } from "playwright-core";

export function installChromium(): Promise<void>;
export function launchChromium(more?: string[]): Promise<Browser>;
