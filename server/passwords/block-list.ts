// Is a password little more than a common one? @zxcvbn-ts/language-common lists 49,000 of them in lower case.

export type BlockList = ReadonlySet<string>

let loading: Promise<BlockList> | undefined

/** Takes 30 ms and 20 MB once, so only a process that sets a password loads it. */
export function loadBlockList(): Promise<BlockList> {
  loading ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => new Set(dictionary['passwords-common']))
  return loading
}

/** UTF-16 units of the longest entry; a test compares. */
export const maxEntryLength = 20

/** What has to be left of a password without its known words; NIST's shortest password. */
export const minOwnLength = 8

/**
 * Whether `text`, in lower case, is one entry, or one entry repeated, with only digits and punctuation added. An entry
 * without letters counts if fewer than `minOwnLength` characters are added: a long random number may contain one.
 */
export function isListed(text: string, blocked: BlockList): boolean {
  const letters = text.replace(/[^\p{L}\p{M}]/gu, '')
  return blocked.has(repeatedPiece(letters)) || isEntryWithAdditions(text, blocked)
}

/** Tries every part of the text that contains all of its letters. */
function isEntryWithAdditions(text: string, blocked: BlockList): boolean {
  const [start, end] = [text.search(/[\p{L}\p{M}]/u), text.search(/[^\p{L}\p{M}]*$/u)]
  const hasLetters = start >= 0
  const [maxFrom, minTo] = hasLetters ? [start, end] : [text.length, 0]
  const minLength = hasLetters ? 1 : text.length - minOwnLength + 1
  for (let from = Math.max(0, minTo - maxEntryLength); from <= maxFrom; from++)
    for (let to = Math.max(minTo, from + minLength); to <= Math.min(text.length, from + maxEntryLength); to++)
      if (blocked.has(text.slice(from, to))) return true
  return false
}

/** The shortest piece whose repetition is the text; the last time it may lack its last character, such as a separator. */
export function repeatedPiece(text: string): string {
  const characters = [...text]
  for (let period = 1; period <= (characters.length + 1) / 2; period++)
    if (characters.every((character, i) => i < period || character === characters[i - period]))
      return characters.slice(0, period).join('')
  return text
}
