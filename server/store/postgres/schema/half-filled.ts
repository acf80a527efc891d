// May a PostgreSQL database be used already? Its marks are those of ../marks.ts.
import type { Pool } from 'pg'
import { fillingTable, halfFilled } from '../../transfer-state.ts'

/** Throws UNAVAILABLE where a move or a restore has not yet filled it whole. */
export async function refuseHalfFilled(pool: Pool): Promise<void> {
  const { rows } = await pool.query('select to_regclass($1) is not null as is_there', [fillingTable])
  if (rows[0]?.is_there === true) throw halfFilled()
}
