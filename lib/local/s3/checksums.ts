/**
 * The checksums that S3 knows, computed as a body streams by. CRC values are base64 of their big-endian bytes, as in the
 * `x-amz-checksum-*` headers. Source: S3 user guide, "Checking object integrity".
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const CHECKSUM_NAMES = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'] as const;
export type ChecksumName = (typeof CHECKSUM_NAMES)[number];

export interface RunningChecksum {
  update(chunk: Uint8Array): void;
  /** Base64, as the header has it. */
  digest(): string;
}

export function createChecksum(name: ChecksumName): RunningChecksum {
  switch (name) {
    case 'crc32': {
      let value = 0;
      return {
        update: (chunk) => {
          value = crc32(chunk, value);
        },
        digest: () => base64Of32(value),
      };
    }
    case 'crc32c':
      return crc32c();
    case 'crc64nvme':
      return crc64nvme();
    case 'sha1':
    case 'sha256': {
      const hash = createHash(name);
      return { update: (chunk) => void hash.update(chunk), digest: () => hash.digest('base64') };
    }
  }
}

function base64Of32(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes.toString('base64');
}

/** Castagnoli's polynomial, reflected. */
function crc32c(): RunningChecksum {
  let value = 0xffffffff;
  return {
    update: (chunk) => {
      for (const byte of chunk) value = (CASTAGNOLI[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
    },
    digest: () => base64Of32(value ^ 0xffffffff),
  };
}

const CASTAGNOLI = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

/** CRC-64/NVME, reflected, in two 32-bit halves: BigInt for every byte would be slow. */
function crc64nvme(): RunningChecksum {
  let high = 0xffffffff;
  let low = 0xffffffff;
  return {
    update: (chunk) => {
      for (const byte of chunk) {
        const index = (low ^ byte) & 0xff;
        low = (NVME_LOW[index] ?? 0) ^ ((low >>> 8) | (high << 24));
        high = (NVME_HIGH[index] ?? 0) ^ (high >>> 8);
      }
    },
    digest: () => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32BE((high ^ 0xffffffff) >>> 0, 0);
      bytes.writeUInt32BE((low ^ 0xffffffff) >>> 0, 4);
      return bytes.toString('base64');
    },
  };
}

const NVME = Array.from({ length: 256 }, (_, index) => {
  let value = BigInt(index);
  for (let bit = 0; bit < 8; bit += 1) value = value & 1n ? (value >> 1n) ^ 0x9a6c9329ac4bc9b5n : value >> 1n;
  return value;
});
const NVME_HIGH = Uint32Array.from(NVME, (value) => Number(value >> 32n));
const NVME_LOW = Uint32Array.from(NVME, (value) => Number(value & 0xffffffffn));
