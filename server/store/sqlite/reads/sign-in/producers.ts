// Reads producers.
import type { Producer } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

const columns = `id, name, application, secret_hash as "secretHash", scopes, created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt", last_used_at as "lastUsedAt",
  previous_secret_hash as "previousSecretHash", previous_until as "previousUntil"`
/** The scopes are stored as one text, with commas between them. */
type ProducerRow = Omit<Producer, 'scopes'> & { scopes: string }

export const producerById = `select ${columns} from producer where id = ?`

export async function findProducer(reader: Reader, producerId: string): Promise<Producer | undefined> {
  return reader.objects<ProducerRow>(producerById, producerId).map(toProducer)[0]
}

export const allProducers = `select ${columns} from producer order by created_at, id`

export async function listProducers(reader: Reader): Promise<Producer[]> {
  return reader.objects<ProducerRow>(allProducers).map(toProducer)
}

function toProducer(row: ProducerRow): Producer {
  return { ...row, scopes: row.scopes.split(',').filter((scope) => scope !== '') }
}
