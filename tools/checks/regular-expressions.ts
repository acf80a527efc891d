// Which part of a regular expression can take time that grows faster than its text? A backtracking engine tries every split of a text between
// two unbounded repetitions that both match it, and begins an unanchored pattern again at each place: 15,000 blanks take half a second.

/** The sample characters that one place of a pattern matches, by their places in `samples`. */
type Chars = readonly boolean[]
type Node =
  | { kind: 'char'; chars: Chars }
  | { kind: 'start' }
  | { kind: 'edge' }
  | { kind: 'look'; inner: Node }
  | { kind: 'sequence'; nodes: Node[] }
  | { kind: 'choice'; nodes: Node[] }
  | { kind: 'repeat'; inner: Node; min: number; max: number }

/** A longer repetition counts as unbounded: what it costs grows up to there. */
const maxBounded = 1_000

/** ASCII and Latin-1, and characters of each class that our patterns name: marks, letters of other scripts, blanks, invisible ones, emoji. */
const samples = [
  ...Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code)),
  ...'\u0130\u0301\u0338\u0375\u05d0\u0627\u0660\u07fa\u0e01\u115f\u1680\u200b\u200d\u2028\u2029\u202e\u2060\u2800\u3000\u3007\u302e\u4e00',
  ...'\uac00\ud800\ufb1d\ufeff\uff01\u{10d30}\u{1f514}\u{e0001}\u{e0100}\u{1e800}\u{10ffff}',
]

export const beginsUnbounded =
  'begins with an unbounded repetition, and is tried again at each place: anchor it'
export const isAmbiguous =
  'has two unbounded repetitions, one after the other, that match the same characters'
export const beginsAgain =
  'can begin again within its own unbounded repetition, and be tried from there: anchor it'

/** What is slow in a pattern, none if nothing is. Throws if it has a part that this reader does not know. */
export function slowPartsOf(pattern: string, flags: string): string[] {
  const root = new Reader(pattern, flags).whole()
  if (!flags.includes('y') && begins(root) === 'unbounded') return [beginsUnbounded]
  if (isAmbiguousAfter([], root)) return [isAmbiguous]
  // A search is a repetition of any character before the pattern. A repetition at the end of the pattern cannot fail.
  const anything = { chars: samples.map(() => true), since: [] }
  return !flags.includes('y') && isAmbiguousAfter([anything], withoutEnd(root)) ? [beginsAgain] : []
}

function isAmbiguousAfter(left: readonly Left[], node: Node): boolean {
  const found = { isAmbiguous: false }
  follow(node, left, found)
  return found.isAmbiguous
}

function withoutEnd(node: Node): Node {
  if (node.kind === 'choice') return { ...node, nodes: node.nodes.map(withoutEnd) }
  if (node.kind === 'repeat')
    return isOneChar(node.inner)
      ? { kind: 'sequence', nodes: [] }
      : { ...node, inner: withoutEnd(node.inner) }
  if (node.kind !== 'sequence') return node
  return { ...node, nodes: [...node.nodes.slice(0, -1), ...node.nodes.slice(-1).map(withoutEnd)] }
}

/** What a match begins with. `nothing`: it can be empty so far. */
function begins(node: Node): 'unbounded' | 'anchored' | 'nothing' {
  if (node.kind === 'char' || node.kind === 'start') return 'anchored'
  if (node.kind === 'edge' || node.kind === 'look') return 'nothing'
  if (node.kind === 'repeat') {
    if (node.max > maxBounded) return 'unbounded'
    const inner = begins(node.inner)
    return inner === 'anchored' && node.min === 0 ? 'nothing' : inner
  }
  const each = node.nodes.map(begins)
  if (node.kind === 'sequence') return each.find((one) => one !== 'nothing') ?? 'nothing'
  return (
    each.find((one) => one === 'unbounded') ?? each.find((one) => one === 'nothing') ?? 'anchored'
  )
}

/** An unbounded repetition that a text may have just left, and what stood between it and the place that follows. */
type Left = { chars: Chars; since: readonly Chars[] }

/** Follows a match from the repetitions that it has left to those that it may have left after `node`. */
function follow(
  node: Node,
  left: readonly Left[],
  found: { isAmbiguous: boolean },
): readonly Left[] {
  switch (node.kind) {
    case 'char':
      return left.map(({ chars, since }) => ({ chars, since: [...since, node.chars] }))
    case 'start':
      return []
    case 'edge':
      return left
    case 'look':
      follow(node.inner, left, found)
      return left
    case 'sequence':
      return node.nodes.reduce((before, one) => follow(one, before, found), left)
    case 'choice':
      return node.nodes.flatMap((one) => follow(one, left, found))
    case 'repeat':
      return followRepeat(node, left, found)
  }
}

function followRepeat(
  node: Node & { kind: 'repeat' },
  left: readonly Left[],
  found: { isAmbiguous: boolean },
) {
  const skipped = node.min === 0 ? left : []
  if (node.max <= maxBounded) {
    const once = follow(node.inner, left, found)
    return [...skipped, ...once, ...(node.max > 1 ? follow(node.inner, once, found) : [])]
  }
  const chars = charsOf(node.inner)
  if (left.some((one) => overlaps([one.chars, chars, ...one.since]))) found.isAmbiguous = true
  if (!isOneChar(node.inner) && hasAlike(node.inner)) found.isAmbiguous = true
  const own = { chars, since: [] }
  if (isOneChar(node.inner)) return [...left, own]
  const once = follow(node.inner, left, found)
  return [...skipped, ...once, ...follow(node.inner, once, found), own]
}

function isOneChar(node: Node): boolean {
  if (node.kind === 'char') return true
  if (node.kind === 'choice') return node.nodes.every(isOneChar)
  return node.kind === 'sequence' && node.nodes.length === 1 && node.nodes.every(isOneChar)
}

/** The characters with which one turn of a repetition can begin; none if a look decides, which this reader does not follow. */
function charsOf(node: Node): Chars {
  if (node.kind === 'char') return node.chars
  if (node.kind === 'choice') return anyOf(node.nodes)
  if (node.kind === 'repeat') return charsOf(node.inner)
  if (node.kind !== 'sequence' || node.nodes.some(({ kind }) => kind === 'look')) return []
  const needed = node.nodes.findIndex((one) => begins(one) === 'anchored')
  return anyOf(needed < 0 ? node.nodes : node.nodes.slice(0, needed + 1))
}

function anyOf(nodes: readonly Node[]): Chars {
  const all = nodes.map(charsOf)
  return samples.map((_, n) => all.some((chars) => chars[n]))
}

/** Whether a part has alternatives of which one can begin with another: within a repetition, a text can be split in many ways. */
function hasAlike(node: Node): boolean {
  if (node.kind === 'repeat') return hasAlike(node.inner)
  if (node.kind !== 'choice' && node.kind !== 'sequence') return false
  const isAlike = (one: Node, n: number) =>
    node.nodes.slice(n + 1).some((other) => areAlike(one, other))
  return (node.kind === 'choice' && node.nodes.some(isAlike)) || node.nodes.some(hasAlike)
}

/** Two words differ at the first place that has no character in common. */
function areAlike(one: Node, other: Node): boolean {
  if (!overlaps([charsOf(one), charsOf(other)])) return false
  if (one.kind !== 'sequence' || other.kind !== 'sequence') return true
  const pairs = one.nodes
    .slice(0, other.nodes.length)
    .map((node, n) => [node, other.nodes[n] as Node] as const)
  const end = pairs.findIndex((pair) => pair.some(({ kind }) => kind !== 'char'))
  return pairs.slice(0, end < 0 ? pairs.length : end).every((pair) => overlaps(pair.map(charsOf)))
}

/** Whether a text can go through all of them: each shares a character with what the first two share. */
function overlaps([one = [], other = [], ...between]: readonly Chars[]): boolean {
  const shared = one.map((has, n) => has && other[n] === true)
  return shared.includes(true) && between.every((chars) => shared.some((has, n) => has && chars[n]))
}

/** Reads the source of a pattern that JavaScript accepts. */
class Reader {
  readonly #source: string
  readonly #flags: string
  readonly #known = new Map<string, Chars>()
  #at = 0

  constructor(source: string, flags: string) {
    this.#source = source
    this.#flags = flags.replaceAll(/[gyd]/g, '')
  }

  whole(): Node {
    const node = this.#choice()
    if (this.#at < this.#source.length)
      throw new Error(`the pattern ${this.#source} has an unknown part`)
    return node
  }

  #choice(): Node {
    const nodes = [this.#sequence()]
    while (this.#take('|')) nodes.push(this.#sequence())
    return nodes.length === 1 ? (nodes[0] as Node) : { kind: 'choice', nodes }
  }

  #sequence(): Node {
    const nodes: Node[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] as string))
      nodes.push(this.#repeated(this.#one()))
    return { kind: 'sequence', nodes }
  }

  #one(): Node {
    if (this.#take('^')) return { kind: 'start' }
    if (this.#take('$') || this.#match(/\\[bB]/y)) return { kind: 'edge' }
    const group = this.#match(/\((?:\?(?:<?[=!]|:|<[^>]+>))?/y)
    if (group !== undefined) {
      const inner = this.#choice()
      if (!this.#take(')'))
        throw new Error(`the pattern ${this.#source} has a group that this reader does not know`)
      return /[=!]$/.test(group) ? { kind: 'look', inner } : inner
    }
    return { kind: 'char', chars: this.#chars(this.#character()) }
  }

  /** The source of one character or class. */
  #character(): string {
    const escaped =
      /\\(?:[pP]\{[^}]+\}|u\{[^}]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[^1-9k])/y
    const found =
      this.#match(escaped) ??
      (this.#source[this.#at] === '[' ? this.#class() : this.#match(/[^\\]/suy))
    if (found === undefined)
      throw new Error(`the pattern ${this.#source} has a reference that this reader does not know`)
    return found
  }

  #class(): string {
    const from = this.#at
    let depth = 0
    do {
      const text = this.#match(/\\.|[^\\]/suy)
      if (text === '[' && (depth === 0 || this.#flags.includes('v'))) depth++
      if (text === ']') depth--
    } while (depth > 0)
    return this.#source.slice(from, this.#at)
  }

  #repeated(inner: Node): Node {
    const found = this.#match(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y)
    if (found === undefined) return inner
    const [, least = '', comma, most = ''] = /^\{(\d+)(,?)(\d*)/.exec(found) ?? []
    if (least === '')
      return {
        kind: 'repeat',
        inner,
        min: found[0] === '+' ? 1 : 0,
        max: found[0] === '?' ? 1 : Infinity,
      }
    const open = most === '' ? Infinity : Number(most)
    const max = comma === '' ? Number(least) : open
    return { kind: 'repeat', inner, min: Number(least), max }
  }

  #chars(source: string): Chars {
    let chars = this.#known.get(source)
    if (chars === undefined) {
      const one = new RegExp(`^${source}$`, this.#flags)
      chars = samples.map((sample) => one.test(sample))
      this.#known.set(source, chars)
    }
    return chars
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #match(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.#at
    const found = sticky.exec(this.#source)?.[0]
    this.#at += found?.length ?? 0
    return found
  }
}
