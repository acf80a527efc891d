declare module 'http_ece' {
  import type { ECDH } from 'node:crypto'

  type Options = { version: 'aes128gcm'; privateKey: ECDH; dh?: string; authSecret: string }
  export function encrypt(content: Buffer, options: Options): Buffer
  export function decrypt(content: Buffer, options: Options): Buffer
}
