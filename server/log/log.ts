// The log: one JSON object per line, readable lines on a terminal. No code passes secrets to the log; the redaction is a second
// protection in case one does.
import { type Logger, pino, stdSerializers } from 'pino'

export type Log = Pick<Logger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'isLevelEnabled'>

const secrets = ['password', 'token', 'cookie', 'authorization', 'secret', 'key', 'passwordHash']
const redact = [...secrets, ...secrets.map((name) => `*.${name}`), 'req.headers', 'res.headers']

/** Control characters, and characters that change the direction of text; tab and line feed are kept below. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** pino-pretty prints a stack unescaped, and an error may quote a client's text, which must not control the terminal. */
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
