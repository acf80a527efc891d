// Refuses a PostgreSQL database that a move or a restore is still filling (transfer-state.ts).
import type { Pool } from 'pg'
import { fillingTable, halfFilled } from '../../transfer-state.ts'

/** Throws UNAVAILABLE if a move or a restore has not finished filling it. */
export async function refuseHalfFilled(pool: Pool): Promise<void> {
  const { rows } = await pool.query('select to_regclass($1) is not null as is_there', [fillingTable])
  if (rows[0]?.is_there === true) throw halfFilled()
}
