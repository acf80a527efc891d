// Which device tokens does a request present? The application's, in the body of a sign-in, and those of the browser's cookie.
import type { FastifyRequest } from 'fastify'
import type { Cookie } from '../dependencies.ts'
import { sessionSecrets } from './guards.ts'

export function presentedDevices({ body, raw }: Pick<FastifyRequest, 'body' | 'raw'>, { name }: Cookie): string[] {
  const { deviceToken } = (body ?? {}) as { deviceToken?: unknown }
  const cookies = sessionSecrets(raw.headers.cookie, name)
  return typeof deviceToken === 'string' ? [deviceToken, ...cookies] : cookies
}
