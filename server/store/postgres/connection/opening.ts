// Can this program work on the PostgreSQL database that a URL names, through whatever lies between? The store, `move` and
// `restore` open it here; doctor (examine.ts) looks for more, and refuses nothing.
import type { Pool } from 'pg'
import { CarillonError } from '../../../errors.ts'
import { openPool, refuseOld } from './connection.ts'
import { refuseSharedConnections } from './pooler.ts'

/** A pool for work that takes its time. Throws, often UNAVAILABLE with a sentence, if the database cannot be used. */
export async function openFitPool(url: string, { patientMs }: { patientMs: number }): Promise<Pool> {
  const pool = openPool(url, { patientMs })
  try {
    // First, while this process has no other connection: a pooler may have one only.
    await refuseSharedConnections(url)
    await refuseOld(pool)
    await refuseOtherEncoding(pool)
    return pool
  } catch (error) {
    await pool.end()
    throw error
  }
}

/** In another encoding text may be refused, and is sorted otherwise. */
async function refuseOtherEncoding(pool: Pool): Promise<void> {
  const { rows } = await pool.query('show server_encoding')
  if (rows[0].server_encoding !== 'UTF8')
    throw new CarillonError(
      'UNAVAILABLE',
      `This database keeps text as ${rows[0].server_encoding}. Make one with: createdb -E UTF8 -T template0 <name>`,
    )
}
