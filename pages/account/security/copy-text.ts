// Puts a text on the clipboard.
import { Explained } from './security-section.ts'

/** Throws Explained: browsers have a clipboard on HTTPS and on localhost only, and may refuse there, too. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    throw new Explained(({ notCopied }) => notCopied)
  }
}
