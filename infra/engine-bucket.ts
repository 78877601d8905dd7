/**
 * The bucket: documents by hash (kept), large values and blobs of runs (gone a week after their records). It outlives the stack.
 *
 * S3's own encryption, for the reasons that the table has. Objects are immutable, so versions are a safeguard against a fault of
 * ours alone and need not be kept long. Access is logged into a second bucket.
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { OBJECTS } from '../lib/store/keys.ts';
import { RUN_TTL_SECONDS } from '../lib/store/table.ts';
import { acknowledgeWildcards } from './acknowledge.ts';

/** A record's value must not go before the record, which DynamoDB drops within a few days of its time. */
const VALUES_DAYS = RUN_TTL_SECONDS / 86_400 + 7;
const OLD_VERSIONS_DAYS = 30;
const ACCESS_LOG_DAYS = 90;

export type ObjectKind = keyof typeof OBJECTS;

const SAFE: BucketProps = {
  encryption: BucketEncryption.S3_MANAGED,
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
  removalPolicy: RemovalPolicy.RETAIN,
};

export class EngineBucket extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const accessLogs = new Bucket(this, 'AccessLogs', {
      ...SAFE,
      lifecycleRules: [
        {
          id: 'expire',
          expiration: Duration.days(ACCESS_LOG_DAYS),
          abortIncompleteMultipartUploadAfter: Duration.days(1),
        },
      ],
    });
    const expiring = (prefix: string, name: string): LifecycleRule => ({
      id: `expire-${name}`,
      prefix,
      expiration: Duration.days(VALUES_DAYS),
      noncurrentVersionExpiration: Duration.days(1),
    });
    this.bucket = new Bucket(this, 'Bucket', {
      ...SAFE,
      versioned: true,
      serverAccessLogsBucket: accessLogs,
      serverAccessLogsPrefix: 'bucket/',
      lifecycleRules: [
        expiring(OBJECTS.values, 'values'),
        expiring(OBJECTS.blobs, 'blobs'),
        {
          id: 'old-documents',
          prefix: OBJECTS.documents,
          noncurrentVersionExpiration: Duration.days(OLD_VERSIONS_DAYS),
        },
        { id: 'abandoned-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
  }

  /** Lets a role read and write objects of these kinds, and no others. */
  grant(role: Role, rights: { read: readonly ObjectKind[]; write: readonly ObjectKind[] }): void {
    const keys = (kinds: readonly ObjectKind[]) =>
      kinds.map((kind) => this.bucket.arnForObjects(`${OBJECTS[kind]}*`));
    const allow = (sid: string, action: string, resources: string[]) => {
      if (resources.length > 0) role.addToPolicy(new PolicyStatement({ sid, actions: [action], resources }));
    };
    allow('ReadObjects', 's3:GetObject', keys(rights.read));
    // Without it S3 answers 403 for an object that is gone, and nobody can tell that from a missing right.
    if (rights.read.length > 0) allow('TellMissingObjects', 's3:ListBucket', [this.bucket.bucketArn]);
    allow('WriteObjects', 's3:PutObject', keys(rights.write));
    acknowledgeWildcards(
      role,
      'Objects are named at run time by workflow or run and by hash; each role gets the prefixes of the kinds that its code reads or writes.',
      ...new Set(keys([...rights.read, ...rights.write])),
    );
  }
}
