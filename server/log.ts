// The log: one JSON object a line, readable lines on a terminal. Nothing secret is handed to it; the redaction is the
// net below that rule.
import { type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'isLevelEnabled'>

const secrets = ['password', 'token', 'cookie', 'authorization', 'secret', 'key', 'passwordHash']
const redact = [...secrets, ...secrets.map((name) => `*.${name}`), 'req.headers', 'res.headers']

export async function createLog({ level, isTerminal }: { level: string; isTerminal: boolean }): Promise<Logger> {
  if (!isTerminal) return pino({ level, redact, base: null })
  const { default: pretty } = await import('pino-pretty')
  return pino({ level, redact, base: null }, pretty({ colorize: true, translateTime: 'HH:MM:ss', sync: true }))
}
