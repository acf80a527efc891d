// The log: one JSON object a line, readable lines on a terminal. Nothing secret is handed to it; the redaction is the
// net below that rule.
import { type Logger, pino, stdSerializers } from 'pino'

export type Log = Pick<Logger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'isLevelEnabled'>

const secrets = ['password', 'token', 'cookie', 'authorization', 'secret', 'key', 'passwordHash']
const redact = [...secrets, ...secrets.map((name) => `*.${name}`), 'req.headers', 'res.headers']

/** Control characters, and those that turn the direction of text, but no tab and no line feed. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** On a terminal a stack is printed as it is, and an error may quote what a client sent: it must move no cursor. */
const serializers = {
  err(error: unknown) {
    if (!(error instanceof Error)) return error
    const { message, stack, ...more } = stdSerializers.err(error)
    return { ...more, message: visible(message), stack: visible(stack) }
  },
}

function visible(text: string): string {
  return text.replace(invisible, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export async function createLog({ level, isTerminal }: { level: string; isTerminal: boolean }): Promise<Logger> {
  if (!isTerminal) return pino({ level, redact, serializers, base: null })
  const { default: pretty } = await import('pino-pretty')
  return pino(
    { level, redact, serializers, base: null },
    pretty({ colorize: true, translateTime: 'HH:MM:ss', sync: true }),
  )
}
