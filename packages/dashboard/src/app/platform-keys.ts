/** The modifier of shortcuts on this computer: the Command key on a Mac, Ctrl elsewhere. */
export const modifierKey = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl+";
